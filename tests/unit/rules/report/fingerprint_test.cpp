#include "rules/finding/finding.h"
#include "rules/report/report.h"
#include "sample_report.h"
#include "tests/catch.h"

using namespace dtype_guard;

TEST_CASE("a fingerprint is the same on every machine and in every release") {
  CHECK(fingerprint({"attention-mixed-dtypes", "attend", "mul(q, scale)", "flash_ref_attention_fwd"}) ==
        "v1:8923bfa3692bfd33");
}

TEST_CASE("a fingerprint depends on its parts, and not on white space or on where one part ends") {
  const FingerprintKey key{"rule", "function", "q * scale", "api"};
  CHECK(fingerprint(key) == fingerprint({"rule", "function", "q*\n  scale", "api"}));
  CHECK(fingerprint(key) != fingerprint({"rule", "function", "q * scale", "api", 1}));
  CHECK(fingerprint(key) != fingerprint({"rule", "function2", "q * scale", "api"}));
  CHECK(fingerprint({"ab", "c", "", ""}) != fingerprint({"a", "bc", "", ""}));
}

TEST_CASE("equal findings get ordinals in line order, once") {
  Report report = test::static_report();  // normalised; two findings came with one fingerprint
  REQUIRE(report.findings.size() == 3);
  CHECK(report.findings[0].location.line == 4);
  CHECK(report.findings[2].location.line == 9);
  CHECK(report.findings[0].fingerprint != report.findings[2].fingerprint);
  CHECK(report.findings[2].fingerprint == fingerprint_with_ordinal(report.findings[0].fingerprint, 1));
  const std::string before = report.findings[2].fingerprint;
  normalise(report);
  CHECK(report.findings[2].fingerprint == before);
}

TEST_CASE("a finding without a fingerprint gets one that its line does not change") {
  Report a, b;
  a.findings.resize(1);
  a.findings[0].rule = "discarded-cast";
  b = a;
  b.findings[0].location.line = 7;
  normalise(a);
  normalise(b);
  CHECK(a.findings[0].fingerprint.size() == 19);
  CHECK(a.findings[0].fingerprint == b.findings[0].fingerprint);
}
