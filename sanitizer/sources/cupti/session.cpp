#include "sanitizer/sources/cupti/session.h"

namespace dtype_guard::san::cupti {

namespace {

struct CallbackId {
  std::uint32_t domain;
  std::uint32_t id;
};

// Runtime and driver both: a launch by the runtime also passes the driver's entry point, a launch by the
// driver API does not pass the runtime's.
constexpr CallbackId kCallbacks[] = {
    {kRuntimeApi, kCudaLaunchKernel},
    {kRuntimeApi, kCudaLaunchKernelPtsz},
    {kRuntimeApi, kCudaLaunchKernelExC},
    {kRuntimeApi, kCudaLaunchKernelExCPtsz},
    {kRuntimeApi, kCudaLaunchCooperativeKernel},
    {kRuntimeApi, kCudaLaunchCooperativeKernelPtsz},
    {kRuntimeApi, kCudaGraphLaunch},
    {kRuntimeApi, kCudaGraphLaunchPtsz},
    {kDriverApi, kCuLaunchKernel},
    {kDriverApi, kCuLaunchKernelPtsz},
    {kDriverApi, kCuLaunchKernelEx},
    {kDriverApi, kCuLaunchKernelExPtsz},
    {kDriverApi, kCuLaunchCooperativeKernel},
    {kDriverApi, kCuLaunchCooperativeKernelPtsz},
    {kDriverApi, kCuGraphLaunch},
    {kDriverApi, kCuGraphLaunchPtsz},
    {kResource, kGraphNodeCreated},
    {kResource, kGraphExecCreated},
};

}  // namespace

bool Session::start(const Functions& functions, Callback callback, void* user_data) {
  if (is_on()) return true;
  reason_[0] = '\0';
  functions_ = functions;
  if (functions.subscribe == nullptr || functions.unsubscribe == nullptr ||
      functions.enable_callback == nullptr) {
    TextSink(reason_, sizeof reason_) << "this libcupti lacks functions of the callback API";
    state_.store(SessionState::kOff, std::memory_order_release);
    return false;
  }
  if (!subscribe(callback, user_data)) {
    state_.store(SessionState::kOff, std::memory_order_release);
    return false;
  }
  for (const CallbackId& wanted : kCallbacks) {
    if (enable(wanted.domain, wanted.id)) continue;
    (void)functions_.unsubscribe(subscriber_);
    state_.store(SessionState::kOff, std::memory_order_release);
    return false;
  }
  state_.store(SessionState::kOn, std::memory_order_release);
  return true;
}

bool Session::subscribe(Callback callback, void* user_data) {
  TextSink reason(reason_, sizeof reason_);
  if (functions_.subscribe_v2 == nullptr) {
    const Result result = functions_.subscribe(&subscriber_, callback, user_data);
    if (result == kSuccess) return true;
    if (result == kMultipleSubscribers)
      reason << "another profiler is subscribed to CUPTI";
    else
      append_failure(reason, "cuptiSubscribe", result);
    return false;
  }
  char holder[kHolderNameSize] = {};
  SubscriberParameters parameters = {sizeof(SubscriberParameters), "dtype-san", holder, sizeof holder, 0, {}};
  const Result result = functions_.subscribe_v2(&subscriber_, callback, user_data, &parameters);
  if (result == kSuccess) return true;
  holder[sizeof holder - 1] = '\0';
  if (result == kMultipleSubscribers && holder[0] != '\0')
    reason << "CUPTI is held by '" << static_cast<const char*>(holder) << "'";
  else if (result == kMultipleSubscribers)
    reason << "another profiler is subscribed to CUPTI";
  else
    append_failure(reason, "cuptiSubscribe_v2", result);
  return false;
}

bool Session::enable(std::uint32_t domain, std::uint32_t id) {
  const Result result = functions_.enable_callback(1, subscriber_, domain, id);
  if (result == kSuccess) return true;
  TextSink reason(reason_, sizeof reason_);
  append_failure(reason, "cuptiEnableCallback", result);
  return false;
}

void Session::append_failure(TextSink& reason, const char* what, Result result) const {
  const char* text = nullptr;
  if (functions_.result_string == nullptr || functions_.result_string(result, &text) != kSuccess ||
      text == nullptr)
    text = "unknown";
  reason << what << " failed: " << text << " ("
         << static_cast<std::uint64_t>(static_cast<std::uint32_t>(result)) << ")";
}

void Session::stop(const char* reason) {
  SessionState on = SessionState::kOn;
  if (!state_.compare_exchange_strong(on, SessionState::kOff, std::memory_order_acq_rel)) return;
  // Off before the call: a callback that still runs finds the source closed.
  const Result result = functions_.unsubscribe(subscriber_);
  TextSink text(reason_, sizeof reason_);
  text << reason;
  if (result == kSuccess) return;
  text << "; ";
  append_failure(text, "cuptiUnsubscribe", result);
}

}  // namespace dtype_guard::san::cupti
