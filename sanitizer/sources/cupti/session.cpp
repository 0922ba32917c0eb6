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
  functions_ = functions;
  TextSink reason(reason_, sizeof reason_);
  const bool good = functions.subscribe != nullptr && functions.unsubscribe != nullptr &&
                    functions.enable_callback != nullptr;
  if (!good) reason << "this libcupti lacks functions of the callback API";
  const bool on = good && subscribe(reason, callback, user_data) && enable_all(reason);
  state_.store(on ? SessionState::kOn : SessionState::kOff, std::memory_order_release);
  return on;
}

void Session::refuse(const char* reason) {
  if (is_on()) return;
  TextSink(reason_, sizeof reason_) << reason;
  state_.store(SessionState::kOff, std::memory_order_release);
}

bool Session::subscribe(TextSink& reason, Callback callback, void* user_data) {
  char holder[kHolderNameSize] = {};
  SubscriberParameters parameters = {sizeof(SubscriberParameters), "dtype-san", holder, sizeof holder};
  bool by_name = functions_.subscribe_v2 != nullptr;
  Result result = by_name ? functions_.subscribe_v2(&subscriber_, callback, user_data, &parameters) : 0;
  if (by_name && result == kInvalidParameter) by_name = false;  // a release that wants other parameters
  if (!by_name) result = functions_.subscribe(&subscriber_, callback, user_data);
  if (result == kSuccess) return true;
  holder[sizeof holder - 1] = '\0';
  if (result == kMultipleSubscribers && holder[0] != '\0')
    reason << "CUPTI is held by '" << static_cast<const char*>(holder) << "'";
  else if (result == kMultipleSubscribers)
    reason << "another profiler is subscribed to CUPTI";
  else
    append_failure(reason, by_name ? "cuptiSubscribe_v2" : "cuptiSubscribe", result);
  return false;
}

// All or nothing: half of the callbacks would count half of the launches.
bool Session::enable_all(TextSink& reason) {
  for (const CallbackId& wanted : kCallbacks) {
    const Result result = functions_.enable_callback(1, subscriber_, wanted.domain, wanted.id);
    if (result == kSuccess) continue;
    append_failure(reason, "cuptiEnableCallback", result);
    unsubscribe(reason);
    return false;
  }
  return true;
}

void Session::unsubscribe(TextSink& reason) {
  const Result result = functions_.unsubscribe(subscriber_);
  if (result == kSuccess) return;
  reason << "; ";
  append_failure(reason, "cuptiUnsubscribe", result);
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
  TextSink text(reason_, sizeof reason_);
  text << reason;
  unsubscribe(text);
}

}  // namespace dtype_guard::san::cupti
