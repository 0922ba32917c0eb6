// The CUPTI source against a scripted libcupti: it subscribes when the place is free, steps back when it is
// not, and no failure leaves it half on.
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sanitizer/sources/cupti/launches.h"
#include "sanitizer/sources/cupti/session.h"
#include "tests/catch.h"

namespace dtype_guard::san::cupti {

namespace {

// One libcupti for all tests of this file; `script` says how it answers.
struct Script {
  Result subscribe = kSuccess;
  Result unsubscribe = kSuccess;
  std::string holder;
  std::uint32_t refused_id = 0;
  int subscriptions = 0;
  std::string name;
  std::set<std::pair<std::uint32_t, std::uint32_t>> enabled;
};
Script script;

Result subscribe(Subscriber* subscriber, Callback, void*) {
  if (script.subscribe != kSuccess) return script.subscribe;
  *subscriber = &script;
  ++script.subscriptions;
  return kSuccess;
}

Result subscribe_v2(Subscriber* subscriber, Callback callback, void* user_data,
                    SubscriberParameters* parameters) {
  script.name = parameters->subscriber_name;
  const std::size_t length =
      script.holder.copy(parameters->old_subscriber_name, parameters->old_subscriber_size - 1);
  parameters->old_subscriber_name[length] = '\0';
  return subscribe(subscriber, callback, user_data);
}

Result unsubscribe(Subscriber subscriber) {
  REQUIRE(subscriber == &script);
  --script.subscriptions;
  script.enabled.clear();
  return script.unsubscribe;
}

Result enable_callback(std::uint32_t enable, Subscriber, std::uint32_t domain, std::uint32_t id) {
  REQUIRE(enable == 1);
  if (id == script.refused_id) return 1;
  script.enabled.emplace(domain, id);
  return kSuccess;
}

Result result_string(Result, const char** text) {
  *text = "CUPTI_ERROR_INVALID_PARAMETER";
  return kSuccess;
}

Functions scripted() { return {subscribe, nullptr, unsubscribe, enable_callback, result_string}; }
Functions scripted_v2() { return {subscribe, subscribe_v2, unsubscribe, enable_callback, result_string}; }

void ignore(void*, std::uint32_t, std::uint32_t, const void*) {}

}  // namespace

TEST_CASE("a CUPTI session enables launch entry points and graph nodes, nothing else") {
  script = {};
  Session session;
  CHECK(session.state() == SessionState::kNever);
  REQUIRE(session.start(scripted(), ignore, nullptr));
  CHECK(session.is_on());
  CHECK(std::string(session.reason()).empty());
  CHECK(script.enabled.count({kDriverApi, kCuLaunchKernel}) == 1);
  CHECK(script.enabled.count({kRuntimeApi, kCudaLaunchKernelExC}) == 1);
  CHECK(script.enabled.count({kResource, kGraphNodeCreated}) == 1);
  CHECK(script.enabled.size() == 18);
  CHECK(session.start(scripted(), ignore, nullptr));  // a second way in does not subscribe twice
  CHECK(script.subscriptions == 1);
  session.stop("another client subscribes");
  CHECK_FALSE(session.is_on());
  CHECK(script.subscriptions == 0);
  CHECK(std::string(session.reason()) == "another client subscribes");
  session.stop("again");
  CHECK(std::string(session.reason()) == "another client subscribes");
}

TEST_CASE("a CUPTI session never takes a place that is held, and names the holder") {
  script = {};
  script.subscribe = kMultipleSubscribers;
  script.holder = "Nsight Systems";
  Session session;
  CHECK_FALSE(session.start(scripted_v2(), ignore, nullptr));
  CHECK(script.name == "dtype-san");
  CHECK(std::string(session.reason()) == "CUPTI is held by 'Nsight Systems'");
  CHECK_FALSE(session.start(scripted(), ignore, nullptr));
  CHECK(std::string(session.reason()) == "another profiler is subscribed to CUPTI");
  CHECK(script.enabled.empty());
  script.subscribe = kSuccess;
  CHECK(session.start(scripted_v2(), ignore, nullptr));  // free later
  CHECK(std::string(session.reason()).empty());
}

TEST_CASE("a CUPTI session that cannot enable everything gives its place back") {
  script = {};
  script.refused_id = kGraphExecCreated;
  Session session;
  CHECK_FALSE(session.start(scripted(), ignore, nullptr));
  CHECK(script.subscriptions == 0);
  CHECK(std::string(session.reason()) == "cuptiEnableCallback failed: CUPTI_ERROR_INVALID_PARAMETER (1)");
  script = {};
  script.subscribe = 15;
  CHECK_FALSE(session.start(scripted_v2(), ignore, nullptr));
  CHECK(std::string(session.reason()) == "cuptiSubscribe_v2 failed: CUPTI_ERROR_INVALID_PARAMETER (15)");
  CHECK_FALSE(session.start({}, ignore, nullptr));
  CHECK(std::string(session.reason()) == "this libcupti lacks functions of the callback API");
}

TEST_CASE("a CUPTI session says when it could not unsubscribe, and is off all the same") {
  script = {};
  script.unsubscribe = 7;
  Session session;
  REQUIRE(session.start(scripted(), ignore, nullptr));
  session.stop("detached");
  CHECK_FALSE(session.is_on());
  CHECK(std::string(session.reason()) ==
        "detached; cuptiUnsubscribe failed: CUPTI_ERROR_INVALID_PARAMETER (7)");
}

TEST_CASE("launches are counted by kernel name, from any thread") {
  static Launches launches;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) (void)launches.count(i % 2 == 0 ? "attention" : "softmax");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Launches::Seen seen = launches.count("attention");
  CHECK(seen.count == 2001);
  CHECK(launches.count_of(seen.index) == 2001);
  CHECK(launches.count("softmax").index != seen.index);
  CHECK(launches.uncounted() == 0);
  for (int i = 0; i < 5000; ++i) (void)launches.count("kernel" + std::to_string(i));
  CHECK(launches.uncounted() > 0);
  CHECK(launches.count_of(seen.index) == 2001);
}

}  // namespace dtype_guard::san::cupti
