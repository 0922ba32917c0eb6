// Kernel names to dtypes: every name of the corpus gives the answer written beside it, and no damaged name
// gives more than an unknown or a dtype that stands in it.
#include "sanitizer/sources/cupti/names/kernel_name.h"

#include <fstream>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sanitizer/contracts/dtype_names.h"
#include "sanitizer/sources/cupti/names/signature.h"
#include "tests/catch.h"

namespace dtype_guard::san::cupti {

namespace {

struct Expected {
  std::vector<std::string> columns;  // kind, backend, library, API, confidence, roles
  std::string name;
};

std::vector<Expected> corpus() {
  std::ifstream file(KERNEL_NAMES_TSV);
  std::vector<Expected> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    Expected row;
    for (std::size_t begin = 0; row.columns.size() < 6;) {
      const std::size_t end = line.find('\t', begin);
      row.columns.push_back(line.substr(begin, end - begin));
      begin = end + 1;
      row.name = line.substr(begin);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string roles_of(const KernelName& kernel) {
  std::string roles;
  for (std::size_t i = 0; i < kernel.role_count; ++i) {
    if (i != 0) roles += ' ';
    roles += kernel.roles[i].role;
    roles += '=';
    roles += kernel.roles[i].dtype == 0 ? "?" : dtype_name(kernel.roles[i].dtype);
  }
  return roles;
}

// Whether `name`, mangled or not, has some letters that could stand for the dtype.
bool is_spelled(std::string_view dtype, std::string_view name) {
  const auto any = [name](std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) {
      if (name.find(text) != std::string_view::npos) return true;
    }
    return false;
  };
  if (dtype == "float16") return any({"half", "Half", "f16", "float16", "Dh", "fp16"});
  if (dtype == "bfloat16") return any({"bfloat16", "BFloat16", "bf16", "DF16b"});
  if (dtype == "float32") return any({"float", "f", "f32", "sgemm"});
  if (dtype == "float64") return any({"double", "d"});
  return any({"loat8", "e4m3", "e5m2", "float_e", "fp8"});
}

}  // namespace

TEST_CASE("every kernel name of the corpus gives the library, API and dtypes that it proves") {
  const auto rows = corpus();
  REQUIRE(rows.size() > 200);
  for (const Expected& row : rows) {
    const KernelName kernel = read_kernel_name(row.name);
    INFO(row.name);
    CHECK(spelling(kernel.kind) == row.columns[0]);
    CHECK(spelling(kernel.backend) == row.columns[1]);
    CHECK(kernel.library == row.columns[2]);
    CHECK(kernel.api == row.columns[3]);
    CHECK(spelling(kernel.confidence) == row.columns[4]);
    CHECK(roles_of(kernel) == row.columns[5]);
  }
}

TEST_CASE("a 16-bit storage type in an element's place is no dtype") {
  const auto kernel = read_kernel_name(
      "void vllm::paged_attention_v1_kernel<unsigned short, unsigned short, 128, 16, 128>(unsigned short*)");
  CHECK(kernel.kind == KernelKind::kAttention);
  CHECK(kernel.dtype_of("q") == 0);
  CHECK(kernel.confidence == Confidence::kNone);
}

TEST_CASE("the defaulted last type of flash-attn 3's mainloop is not taken for the element") {
  const auto kernel = read_kernel_name(
      "void "
      "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
      "CollectiveMainloopFwdSm90<(int)2, "
      "cute::tuple<cute::C<(int)1> >, cute::tuple<cute::C<(int)128> >, (int)128, cutlass::half_t, float, "
      "cutlass::arch::Sm90, "
      "(bool)1, cutlass::bfloat16_t>, flash::CollectiveEpilogueFwd<cute::tuple<cute::C<(int)128> >, "
      "cute::tuple<cute::C<(int)1> >, "
      "cutlass::half_t, cutlass::arch::Sm90>, flash::Scheduler> > >(int)");
  CHECK(dtype_name(kernel.dtype_of("q")) == "float16");
  CHECK(dtype_name(kernel.dtype_of("out")) == "float16");
}

TEST_CASE("brackets that do not close, and lists without the item, give nothing") {
  CHECK_FALSE(split_signature("void f<int"));
  CHECK_FALSE(split_signature("void f<(int>)(x)"));
  CHECK_FALSE(list_item("a, b", 2));
  CHECK_FALSE(list_item("a<b, c", 0));
  CHECK(*list_item("a<b, c>, d(e, f), g", 1) == "d(e, f)");
  CHECK(*type_item("1, (Mode)0, true, -3, half, float", 1) == "float");
  CHECK(split_signature("void (anonymous namespace)::f<int>(float)")->name == "(anonymous namespace)::f");
  CHECK(split_signature("std::vector<int> A<b>::kernel<&operator<, c>(d)")->arguments == "&operator<, c");
}

TEST_CASE("damaged kernel names neither crash nor prove a dtype that they do not spell") {
  const auto rows = corpus();
  std::mt19937 random(20261121);
  for (int round = 0; round < 20000; ++round) {
    std::string name = rows[random() % rows.size()].name;
    for (unsigned edits = 1 + random() % 4; edits > 0 && !name.empty(); --edits) {
      const std::size_t at = random() % name.size();
      switch (random() % 4) {
        case 0:
          name.erase(at, 1 + random() % 8);
          break;
        case 1:
          name.insert(at, 1, "<>(){},:#*\0 "[random() % 12]);
          break;
        case 2:
          name.resize(at);
          break;
        default:
          name.insert(at, rows[random() % rows.size()].name.substr(0, 60));
          break;
      }
    }
    const KernelName kernel = read_kernel_name(name);
    REQUIRE(kernel.role_count <= KernelName::kMaxRoles);
    if (kernel.confidence == Confidence::kNone) continue;
    INFO(name);
    INFO(roles_of(kernel));
    for (std::size_t i = 0; i < kernel.role_count; ++i) {
      if (kernel.roles[i].dtype != 0) REQUIRE(is_spelled(dtype_name(kernel.roles[i].dtype), name));
    }
  }
  CHECK(read_kernel_name(std::string(kMaxNameLength + 1, 'a')).kind == KernelKind::kUnknown);
  CHECK(read_kernel_name("void f<" + std::string(8000, '<')).kind == KernelKind::kUnknown);
  CHECK(read_kernel_name("void vllm::paged_attention_v1_kernel<" + std::string(8000, ',') + ">").confidence ==
        Confidence::kNone);
}

}  // namespace dtype_guard::san::cupti
