// Constants that classes hold, and the members of an Enum, which are one thing each wherever they are named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/python/modules.h"

namespace dtype_guard::python {

// Flags, texts and numbers that stand at the class's own level.
std::vector<std::string> class_constant_names(const ClassDefinition& of);
bool is_enumeration(const ClassDefinition& of, const Modules& modules);
// A text that no other member has; of an Enum that is a str or an int as well, what the member is.
std::optional<flow::Constant> member_of(const ClassDefinition& of, const std::string& name,
                                        const Modules& modules);
// Of `Mode.WIDE` as it is written in the file.
std::optional<flow::Constant> named_member(const Node& written, const SourceFile& file,
                                           const Modules& modules);

}  // namespace dtype_guard::python
