#include "kernels/launch/dtype_check.h"

#include <cstdio>
#include <iterator>

#include "kernels/launch/flash_ref_contract.h"

namespace flash_ref {
namespace {

// Index into kDtypes, -1 if DLPack's numbers mean nothing that has a name.
int find_dtype(DLDataType dtype) {
  for (int i = 0; i < static_cast<int>(std::size(kDtypes)); ++i) {
    const NamedDtype& known = kDtypes[i];
    if (known.code == dtype.code && known.bits == dtype.bits && known.lanes == dtype.lanes) return i;
  }
  return -1;
}

struct DtypeText {
  char text[64];
  explicit DtypeText(DLDataType dtype) {
    const int index = find_dtype(dtype);
    if (index >= 0) {
      std::snprintf(text, sizeof text, "%s", kDtypes[index].name);
    } else {
      std::snprintf(text, sizeof text, "(DLPack code %u, %u bits, %u lanes)", unsigned{dtype.code},
                    unsigned{dtype.bits}, unsigned{dtype.lanes});
    }
  }
};

bool in_set(DLDataType dtype, std::uint64_t accepts) {
  const int index = find_dtype(dtype);
  return index >= 0 && ((accepts >> index) & 1U) != 0;
}

bool equal(DLDataType a, DLDataType b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }

}  // namespace

int check_dtypes(const Call& call, const ApiRule& api, const DLTensor* const* operands, int count) {
  for (int i = 0; i < count; ++i) {
    const OperandRule& rule = api.operands[i];
    if (operands[i] == nullptr && !rule.optional) {
      return call.fail(FLASH_REF_NULL_ARGUMENT, "%s is NULL", rule.role);
    }
  }
  // Sets before equalities: the operand that others are compared with is itself right by then.
  for (int i = 0; i < count; ++i) {
    const OperandRule& rule = api.operands[i];
    if (operands[i] == nullptr || rule.accepts == 0 || in_set(operands[i]->dtype, rule.accepts)) continue;
    return call.fail(FLASH_REF_BAD_DTYPE, "%s has dtype %s; accepted: %s", rule.role,
                     DtypeText(operands[i]->dtype).text, rule.accepted_names);
  }
  for (int i = 0; i < count; ++i) {
    const OperandRule& rule = api.operands[i];
    if (operands[i] == nullptr || rule.same_as < 0 || operands[rule.same_as] == nullptr) continue;
    const DLDataType expected = operands[rule.same_as]->dtype;
    if (equal(operands[i]->dtype, expected)) continue;
    return call.fail(FLASH_REF_BAD_DTYPE, "%s has dtype %s; accepted: %s (the dtype of %s)", rule.role,
                     DtypeText(operands[i]->dtype).text, DtypeText(expected).text,
                     api.operands[rule.same_as].role);
  }
  return FLASH_REF_OK;
}

int check_option_dtype(const Call& call, const ApiRule& api, const char* member, DLDataType dtype,
                       DLDataType leading) {
  const std::string_view name = std::string_view(member).substr(std::string_view("options.").size());
  for (int i = 0; i < api.option_count; ++i) {
    const OperandRule& rule = api.options[i];
    if (name != rule.role) continue;
    if (in_set(dtype, rule.accepts)) return FLASH_REF_OK;
    if (rule.same_as < 0) {
      return call.fail(FLASH_REF_BAD_DTYPE, "%s has dtype %s; accepted: %s", member, DtypeText(dtype).text,
                       rule.accepted_names);
    }
    if (equal(dtype, leading)) return FLASH_REF_OK;
    return call.fail(FLASH_REF_BAD_DTYPE, "%s has dtype %s; accepted: %s, or %s (the dtype of %s)", member,
                     DtypeText(dtype).text, rule.accepted_names, DtypeText(leading).text,
                     api.operands[rule.same_as].role);
  }
  return call.fail(FLASH_REF_BAD_DTYPE, "%s is given, and the contract of %s lists no such option", member,
                   api.name);
}

Element element_of(DLDataType dtype) {
  constexpr unsigned kDlpackBfloat = 4;
  if (dtype.code == kDlpackBfloat) return Element::kBFloat16;
  return dtype.bits == 32 ? Element::kFloat32 : Element::kFloat16;
}

DLDataType dtype_of(Element element) {
  switch (element) {
    case Element::kFloat16:
      return {2, 16, 1};
    case Element::kBFloat16:
      return {4, 16, 1};
    case Element::kFloat32:
      break;
  }
  return {2, 32, 1};
}

}  // namespace flash_ref
