// Where the tensors of a call lie: one device for all, and one that can be used.
#include "tests/catch.h"
#include "tests/unit/kernels/calls.h"

using namespace flash_ref_test;

namespace {

std::string prefixed(const std::string& message) { return "flash_ref_attention_fwd: " + message; }

constexpr auto kCuda = static_cast<DLDeviceType>(2);

}  // namespace

#ifdef FLASH_REF_HAS_CUDA
TEST_CASE("devices: tensors on two of them are refused") {
  for (const char* role : {"k", "v", "out", "lse"}) {
    AttentionArguments a;
    a.named(role).device.device_type = kCuda;
    REQUIRE_ERROR(
        a.call(), FLASH_REF_BAD_DEVICE,
        prefixed(std::string(role) + " is on device 0 of type 2 (CUDA); expected device 0 of type 1 (CPU), "
                                     "where q is"));
  }
  AttentionArguments a;
  for (const char* role : {"q", "k", "v", "out", "lse"}) a.named(role).device = {kCuda, 1};
  a.named("out").device.device_id = 3;
  REQUIRE_ERROR(
      a.call(), FLASH_REF_BAD_DEVICE,
      prefixed("out is on device 3 of type 2 (CUDA); expected device 1 of type 2 (CUDA), where q is"));
}

TEST_CASE("devices: a CUDA device that there is not is refused, with and without a driver") {
  AttentionArguments a;
  for (const char* role : {"q", "k", "v", "out", "lse"}) a.named(role).device = {kCuda, 77};
  const Outcome outcome = a.call();
  CHECK(outcome.status == FLASH_REF_BAD_DEVICE);
  CHECK(outcome.message.rfind(prefixed("CUDA device 77 cannot be used: "), 0) == 0);
  CHECK(outcome.message.find("(cudaError") != std::string::npos);
  CHECK_FALSE(outcome.written);
}
#else
TEST_CASE("devices: without CUDA its tensors are refused") {
  AttentionArguments a;
  for (const char* role : {"q", "k", "v", "out", "lse"}) a.named(role).device = {kCuda, 0};
  REQUIRE_ERROR(a.call(), FLASH_REF_BAD_DEVICE,
                prefixed("q is on device type 2 (CUDA); this library runs on device type 1 (CPU)"));
}
#endif
