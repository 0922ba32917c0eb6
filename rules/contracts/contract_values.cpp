#include "rules/contracts/contract_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "rules/contracts/spelling.h"
#include "rules/text/nearest_name.h"

namespace dtype_guard {
namespace {

constexpr int kLargestArgument = 255;

struct DtypeGroup {
  const char* name;
  DtypeSet dtypes;
};
const DtypeGroup kDtypeGroups[] = {
    {"half", {Dtype::kFloat16, Dtype::kBFloat16}},
    {"floating", {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32, Dtype::kFloat64}},
};

template <typename Range>
std::string quoted(const Range& names) {
  std::vector<std::string> quoted_names;
  for (const std::string_view name : names) quoted_names.push_back(fmt::format("\"{}\"", name));
  return fmt::format("{}", fmt::join(quoted_names, ", "));
}

// What a name should be that no call or type goes by, with the nearest that one may; empty when it is good.
std::string expected_name(const std::string& written) {
  const std::string_view never = why_never_called(written);
  if (never.empty()) return {};
  const std::string nearest = nearest_called_name(written);
  const std::string hint = nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest);
  return fmt::format("a qualified name {}{}", never, hint);
}

}  // namespace

void ContractValues::wrong(const JsonNode& node, const std::string& expected) const {
  throw ContractError(file_, node.line, node.pointer(),
                      fmt::format("found {}, expected {}", node.describe(), expected));
}

void ContractValues::unknown(const JsonNode& node, const std::string& what, const Names& known,
                             std::string_view meant) const {
  const std::string nearest =
      meant.empty() ? did_you_mean(text(node), known) : fmt::format(", did you mean \"{}\"?", meant);
  wrong(node, fmt::format("{} ({}){}", what, quoted(known), nearest));
}

void ContractValues::wrong_key(const JsonMember& member, const std::string& expected) const {
  throw ContractError(file_, member.node.line, member.node.pointer(),
                      fmt::format("found the key \"{}\", expected {}", member.key, expected));
}

void ContractValues::check_members(const JsonNode& node, Words known, Words required) const {
  if (node.members() == nullptr) wrong(node, fmt::format("an object with {}", quoted(required)));
  for (const auto& [key, value] : *node.members()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw ContractError(file_, value.line, value.pointer(),
                        fmt::format("found the unknown member \"{}\", expected one of {}{}", key,
                                    quoted(known), did_you_mean(key, Names(known.begin(), known.end()))));
  }
  for (const std::string_view key : required) {
    if (node.member(key) != nullptr) continue;
    throw ContractError(file_, node.line, node.pointer(),
                        fmt::format("found {} without \"{}\", expected that member", node.describe(), key));
  }
}

const std::string& ContractValues::text(const JsonNode& node) const {
  if (node.string() == nullptr) wrong(node, "a string");
  return *node.string();
}

const std::string& ContractValues::name(const JsonNode& node) const {
  const std::string& value = text(node);
  const bool printable = std::all_of(value.begin(), value.end(), [](unsigned char c) { return c >= ' '; });
  if (value.empty() || !printable) wrong(node, "a name of at least one printable character");
  return value;
}

const JsonNode::Items& ContractValues::list(const JsonNode& node, const std::string& content) const {
  if (node.items() == nullptr || node.items()->empty()) wrong(node, "an array of " + content);
  return *node.items();
}

const JsonNode::Members& ContractValues::named_values(const JsonNode& node,
                                                      const std::string& content) const {
  if (node.members() == nullptr || node.members()->empty()) wrong(node, "an object of " + content);
  for (const JsonMember& member : *node.members()) {
    if (member.key.empty()) wrong_key(member, "a qualified name");
    if (const std::string expected = expected_name(member.key); !expected.empty())
      wrong_key(member, expected);
  }
  return *node.members();
}

const std::string& ContractValues::called_name(const JsonNode& node) const {
  if (const std::string expected = expected_name(name(node)); !expected.empty()) wrong(node, expected);
  return name(node);
}

const std::string& ContractValues::device(const JsonNode& node) const {
  if (std::find(kDevices.begin(), kDevices.end(), text(node)) == kDevices.end())
    unknown(node, "a device", Names(kDevices.begin(), kDevices.end()));
  return text(node);
}

const std::string& ContractValues::version(const JsonNode& node) const {
  const std::string& value = text(node);
  const bool digits = value.find_first_not_of("0123456789.") == std::string::npos;
  if (value.empty() || !digits || value.find('.') == std::string::npos)
    wrong(node, "a version such as \"2.8.0\"");
  return value;
}

int ContractValues::argument(const JsonNode& node) const {
  const auto* number = std::get_if<std::int64_t>(&node.value);
  if (number == nullptr || *number < 0 || *number > kLargestArgument) {
    wrong(node, fmt::format("a position in the signature, from 0 to {}", kLargestArgument));
  }
  return static_cast<int>(*number);
}

bool ContractValues::flag(const JsonNode& node) const {
  if (node.boolean() == nullptr) wrong(node, "true or false");
  return *node.boolean();
}

Dtype ContractValues::one_dtype(const JsonNode& node) const {
  const DtypeSet set = dtype_or_group(node, false);
  for (Dtype dtype : all_dtypes()) {
    if (set == DtypeSet{dtype}) return dtype;
  }
  wrong(node, "one dtype, not a group");
}

DtypeSet ContractValues::dtypes(const JsonNode& node) const {
  DtypeSet set;
  for (const JsonNode& item : list(node, "at least one dtype")) {
    const DtypeSet more = dtype_or_group(item);
    if ((more.bits() & ~set.bits()) == 0)
      wrong(item, "each dtype once; what stands before it says this already");
    set = DtypeSet::from_bits(set.bits() | more.bits());
  }
  return set;
}

DtypeSet ContractValues::dtype_or_group(const JsonNode& node, bool groups_fit) const {
  const std::string& written = text(node);
  for (const DtypeGroup& group : kDtypeGroups) {
    if (group.name == written) return group.dtypes;
  }
  for (Dtype dtype : all_dtypes()) {
    if (dtype_guard::name(dtype) == written) return {dtype};
  }
  Names known;
  for (Dtype dtype : all_dtypes()) known.emplace_back(dtype_guard::name(dtype));
  for (const DtypeGroup& group : kDtypeGroups) {
    if (groups_fit) known.emplace_back(group.name);
  }
  std::string hint = did_you_mean(written, known);
  // "fp16" and "at::kHalf" are dtypes too, only not as this file writes them.
  if (const auto parsed = parse_dtype(written)) {
    hint = fmt::format(", did you mean \"{}\"?", dtype_guard::name(*parsed));
  }
  const char* group = groups_fit ? ", or a group (\"half\", \"floating\")" : "";
  wrong(node, fmt::format("a dtype by PyTorch's name, such as \"float16\"{}{}", group, hint));
}

Recast ContractValues::recast(const JsonNode& node) const {
  check_members(node, {"keyword", "from"}, {"keyword", "from"});
  return {name(*node.member("keyword")), one_dtype(*node.member("from"))};
}

std::vector<std::string> names_of(DtypeSet dtypes) {
  std::vector<std::string> names;
  for (const Dtype dtype : all_dtypes()) {
    if (dtypes.contains(dtype)) names.emplace_back(name(dtype));
  }
  return names;
}

}  // namespace dtype_guard
