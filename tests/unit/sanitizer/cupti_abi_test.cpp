// Our declarations of CUPTI's interface against NVIDIA's header, where that is installed.
#include "sanitizer/sources/cupti/abi.h"
#include "sanitizer/sources/cupti/launch_abi.h"
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
#if CUPTI_API_VERSION >= 130000
SAME_MEMBER(SubscriberParameters, struct_size, CUpti_SubscriberParams, structSize);
SAME_MEMBER(SubscriberParameters, subscriber_name, CUpti_SubscriberParams, subscriberName);
SAME_MEMBER(SubscriberParameters, old_subscriber_name, CUpti_SubscriberParams, oldSubscriberName);
SAME_MEMBER(SubscriberParameters, old_subscriber_size, CUpti_SubscriberParams, oldSubscriberSize);
static_assert(sizeof(SubscriberParameters) <= CUpti_SubscriberParams_STRUCT_SIZE);
static_assert(sizeof(SubscriberParameters) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberSize) + sizeof(size_t));
static_assert(kHolderNameSize >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
#endif

SAME_MEMBER(DriverLaunch, function, cuLaunchKernel_params, f);
SAME_MEMBER(DriverLaunch, stream, cuLaunchKernel_params, hStream);
SAME_MEMBER(DriverLaunch, arguments, cuLaunchKernel_params, kernelParams);
SAME_MEMBER(DriverLaunch, extra, cuLaunchKernel_params, extra);
SAME_MEMBER(DriverLaunch, function, cuLaunchKernel_ptsz_params, f);
SAME_MEMBER(DriverLaunch, stream, cuLaunchKernel_ptsz_params, hStream);
SAME_MEMBER(DriverLaunch, arguments, cuLaunchKernel_ptsz_params, kernelParams);
SAME_MEMBER(DriverLaunch, function, cuLaunchCooperativeKernel_params, f);
SAME_MEMBER(DriverLaunch, stream, cuLaunchCooperativeKernel_params, hStream);
SAME_MEMBER(DriverLaunch, arguments, cuLaunchCooperativeKernel_params, kernelParams);
SAME_MEMBER(DriverLaunchEx, config, cuLaunchKernelEx_params, config);
SAME_MEMBER(DriverLaunchEx, function, cuLaunchKernelEx_params, f);
SAME_MEMBER(DriverLaunchEx, arguments, cuLaunchKernelEx_params, kernelParams);
SAME_MEMBER(DriverLaunchEx, extra, cuLaunchKernelEx_params, extra);
SAME_MEMBER(LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_MEMBER(GraphLaunch, executable, cuGraphLaunch_params, hGraph);
SAME_MEMBER(GraphLaunch, stream, cuGraphLaunch_params, hStream);
SAME_MEMBER(GraphLaunch, executable, cudaGraphLaunch_v10000_params, graphExec);
SAME_MEMBER(GraphLaunch, stream, cudaGraphLaunch_v10000_params, stream);
SAME_MEMBER(ResourceData, context, CUpti_ResourceData, context);
SAME_MEMBER(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME_MEMBER(GraphData, graph, CUpti_GraphData, graph);
SAME_MEMBER(GraphData, original_graph, CUpti_GraphData, originalGraph);
SAME_MEMBER(GraphData, executable, CUpti_GraphData, graphExec);

#define SAME_NUMBER(ours, theirs) \
  static_assert(static_cast<std::int64_t>(ours) == static_cast<std::int64_t>(theirs))

SAME_NUMBER(kSuccess, CUPTI_SUCCESS);
SAME_NUMBER(kInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
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

SAME_NUMBER(kExtraEnd, CU_LAUNCH_PARAM_END_AS_INT);
SAME_NUMBER(kExtraBuffer, CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
SAME_NUMBER(kExtraSize, CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);

TEST_CASE("our declarations of CUPTI agree with cupti.h") {
  CHECK(reinterpret_cast<std::uintptr_t>(CU_STREAM_LEGACY) == kLegacyStream);
  CHECK(reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD) == kPerThreadStream);
  SUCCEED("compared when this file was compiled");
}

}  // namespace dtype_guard::san::cupti

#else

TEST_CASE("our declarations of CUPTI agree with cupti.h") {
  WARN("skipped: cupti.h is not installed (it comes with the CUDA toolkit)");
}

#endif
