// Our declarations of CUPTI's interface against NVIDIA's header, where that is installed.
#include "sanitizer/sources/cupti/abi.h"
#include "tests/catch.h"

#if __has_include(<cupti.h>)
#include <cupti.h>

namespace dtype_guard::san::cupti {

#define SAME_MEMBER(ours, our_member, theirs, their_member)                    \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member)); \
  static_assert(sizeof(ours::our_member) == sizeof(theirs::their_member))

SAME_MEMBER(CallbackData, site, CUpti_CallbackData, callbackSite);
SAME_MEMBER(CallbackData, function_name, CUpti_CallbackData, functionName);
SAME_MEMBER(CallbackData, parameters, CUpti_CallbackData, functionParams);
SAME_MEMBER(CallbackData, return_value, CUpti_CallbackData, functionReturnValue);
SAME_MEMBER(CallbackData, symbol_name, CUpti_CallbackData, symbolName);
SAME_MEMBER(CallbackData, context, CUpti_CallbackData, context);
SAME_MEMBER(CallbackData, context_uid, CUpti_CallbackData, contextUid);
SAME_MEMBER(CallbackData, correlation_data, CUpti_CallbackData, correlationData);
SAME_MEMBER(CallbackData, correlation_id, CUpti_CallbackData, correlationId);
static_assert(sizeof(CallbackData) == sizeof(CUpti_CallbackData));
SAME_MEMBER(SubscriberParameters, struct_size, CUpti_SubscriberParams, structSize);
SAME_MEMBER(SubscriberParameters, subscriber_name, CUpti_SubscriberParams, subscriberName);
SAME_MEMBER(SubscriberParameters, old_subscriber_name, CUpti_SubscriberParams, oldSubscriberName);
SAME_MEMBER(SubscriberParameters, old_subscriber_size, CUpti_SubscriberParams, oldSubscriberSize);
static_assert(sizeof(SubscriberParameters) == CUpti_SubscriberParams_STRUCT_SIZE);
static_assert(kHolderNameSize >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);

#define SAME_NUMBER(ours, theirs) \
  static_assert(static_cast<std::int64_t>(ours) == static_cast<std::int64_t>(theirs))

SAME_NUMBER(kSuccess, CUPTI_SUCCESS);
SAME_NUMBER(kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_NUMBER(kDriverApi, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_NUMBER(kRuntimeApi, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_NUMBER(kResource, CUPTI_CB_DOMAIN_RESOURCE);
SAME_NUMBER(kEnter, CUPTI_API_ENTER);
SAME_NUMBER(kExit, CUPTI_API_EXIT);
SAME_NUMBER(kCudaLaunchKernel, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
SAME_NUMBER(kCudaLaunchKernelPtsz, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000);
SAME_NUMBER(kCudaLaunchCooperativeKernel, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000);
SAME_NUMBER(kCudaLaunchCooperativeKernelPtsz,
            CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000);
SAME_NUMBER(kCudaGraphLaunch, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
SAME_NUMBER(kCudaGraphLaunchPtsz, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000);
SAME_NUMBER(kCudaLaunchKernelExC, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060);
SAME_NUMBER(kCudaLaunchKernelExCPtsz, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060);
SAME_NUMBER(kCuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
SAME_NUMBER(kCuLaunchKernelPtsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
SAME_NUMBER(kCuLaunchCooperativeKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
SAME_NUMBER(kCuLaunchCooperativeKernelPtsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
SAME_NUMBER(kCuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
SAME_NUMBER(kCuGraphLaunchPtsz, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
SAME_NUMBER(kCuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
SAME_NUMBER(kCuLaunchKernelExPtsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
SAME_NUMBER(kGraphNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME_NUMBER(kGraphExecCreated, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);

TEST_CASE("our declarations of CUPTI agree with cupti.h") { SUCCEED("compared when this file was compiled"); }

}  // namespace dtype_guard::san::cupti

#else

TEST_CASE("our declarations of CUPTI agree with cupti.h") {
  WARN("skipped: cupti.h is not installed (it comes with the CUDA toolkit)");
}

#endif
