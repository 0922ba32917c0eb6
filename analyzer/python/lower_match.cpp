// match: which case it is, as far as patterns are constants, and the parts of the subject that patterns bind.
#include <set>

#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr int kMaxPatterns = 40;  // in one another

bool is_capture(const Node& pattern) {
  return pattern.is("identifier") || (pattern.is("dotted_name") && !pattern.child(1));
}

// Classes whose one positional pattern is the subject itself.
bool is_whole_subject(const Node& name) {
  static const std::set<std::string_view> all = {"str",  "int",   "float", "bool", "list",
                                                 "dict", "bytes", "tuple", "set"};
  return all.contains(name.text());
}
}  // namespace

void FunctionLowering::match_statement(const Node& node) {
  const std::vector<Node> subjects = node.children("subject");
  Arguments parts;
  for (const Node& each : subjects) parts.push_back({"", value(each)});
  const ValueId subject =
      parts.size() == 1 ? parts[0].value : builder_.value(Op::kPack, "", std::move(parts));
  const BlockId after = builder_.block();
  for (const Node& each : node.field("body").children()) {
    if (!each.is("case_clause")) continue;
    std::vector<Node> patterns;
    for (const Node& part : each.children()) {
      if (part.is("case_pattern")) patterns.push_back(part);
    }
    const BlockId yes = builder_.block(), no = builder_.block();
    const ValueId holds = patterns.size() == 1 ? matches(patterns[0], subject, 0) : builder_.unknown();
    builder_.branch(holds, yes, no);
    builder_.enter(yes);
    if (patterns.size() == 1) {
      bind_pattern(patterns[0], subject, 0);
    } else {
      bind_sequence(patterns, subject, 0);
    }
    if (const Node guard = each.field("guard")) {
      const BlockId guarded = builder_.block();
      builder_.branch(test(guard.child(0)), guarded, no);
      builder_.enter(guarded);
    }
    block(each.field("consequence"));
    builder_.jump(after);
    builder_.enter(no);
  }
  builder_.jump(after);
  builder_.enter(after);
}

// Whether a pattern fits: known where it is a constant, or takes anything.
ValueId FunctionLowering::matches(const Node& pattern, ValueId subject, int depth) {
  if (depth > kMaxPatterns || !pattern) return builder_.unknown();
  const Builder::At at(builder_, position(pattern));
  if (pattern.is("case_pattern")) {
    if (pattern.has_token("-")) return builder_.unknown();
    const Node inner = pattern.child(0);
    return inner ? matches(inner, subject, depth + 1) : builder_.constant(true);
  }
  if (is_capture(pattern)) return builder_.constant(true);
  if (pattern.is("as_pattern")) return matches(pattern.child(0), subject, depth + 1);
  if (pattern.is("none"))
    return builder_.op("logical_not", {{"self", builder_.op("defined", {{"self", subject}})}});
  if (pattern.is("string") || pattern.is("integer") || pattern.is("true") || pattern.is("false"))
    return builder_.op("eq", {{"self", subject}, {"other", value(pattern)}});
  if (pattern.is("dotted_name")) {
    const std::string first(pattern.child(0).text());
    const Entity entity =
        knows(first) ? Entity() : unit_.modules().named(unit_.file(), std::string(pattern.text()));
    if (entity) return builder_.op("eq", {{"self", subject}, {"other", entity_value(entity)}});
  }
  if (pattern.is("union_pattern") && !pattern.has_token("-")) {
    Arguments any;
    for (const Node& each : pattern.children()) any.push_back({"", matches(each, subject, depth + 1)});
    return builder_.op("logical_or", std::move(any));
  }
  return builder_.unknown();
}

void FunctionLowering::bind_pattern(const Node& pattern, ValueId subject, int depth) {
  if (depth > kMaxPatterns || !pattern) return;
  const auto inside = pattern.children();
  if (is_capture(pattern)) {
    store(std::string(pattern.text()), subject);
  } else if (pattern.is("case_pattern")) {
    bind_pattern(pattern.child(0), subject, depth + 1);
  } else if (pattern.is("as_pattern")) {
    bind_pattern(pattern.child(0), subject, depth + 1);
    bind_pattern(pattern.child(1), subject, depth + 1);
  } else if (pattern.is("tuple_pattern") || pattern.is("list_pattern")) {
    bind_sequence(inside, subject, depth + 1);
  } else if (pattern.is("dict_pattern")) {
    const std::vector<Node> keys = pattern.children("key"), values = pattern.children("value");
    for (std::size_t i = 0; i < keys.size() && i < values.size(); ++i) {
      const auto key = literal(keys[i]);
      const ValueId part =
          key ? builder_.op("dict_get", {{"self", subject}, {"index", builder_.constant(*key)}})
              : builder_.unknown();
      bind_pattern(values[i], part, depth + 1);
    }
    for (const Node& each : inside) {
      if (each.is("splat_pattern")) bind_pattern(each, subject, depth + 1);
    }
  } else if (pattern.is("class_pattern")) {
    bind_class(pattern, subject, depth + 1);
  } else {  // alternatives, and the rest of a sequence or dictionary
    for (const Node& each : inside) {
      if (!pattern.is("dotted_name")) bind_pattern(each, builder_.unknown(), depth + 1);
    }
  }
}

// Behind a star the position counts from the end.
void FunctionLowering::bind_sequence(const std::vector<Node>& patterns, ValueId subject, int depth) {
  const auto count = static_cast<std::int64_t>(patterns.size());
  std::int64_t index = 0;
  for (const Node& each : patterns) {
    const bool collects = each.is("splat_pattern") || each.child(0).is("splat_pattern");
    const Builder::At at(builder_, position(each));
    bind_pattern(each, collects ? slice(subject, index, index + 1 - count) : element(subject, index), depth);
    index += collects ? 1 - count : 1;
  }
}

void FunctionLowering::bind_class(const Node& pattern, ValueId subject, int depth) {
  for (const Node& each : pattern.children()) {
    if (!each.is("case_pattern")) continue;
    const Node keyword = each.child(0);
    if (!keyword.is("keyword_pattern")) {
      bind_pattern(each, is_whole_subject(pattern.child(0)) ? subject : builder_.unknown(), depth);
      continue;
    }
    const Builder::At at(builder_, position(each));
    Place place;
    place.base = subject;
    place.path.push_back({Place::Step::Kind::kField, std::string(keyword.child(0).text()), 0});
    bind_pattern(keyword.child(1), builder_.load(std::move(place)), depth);
  }
}

}  // namespace dtype_guard::python
