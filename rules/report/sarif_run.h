// What a SARIF run says about itself: the tool with its rules from the catalog, where relative URIs start,
// and notifications about what it could not analyse or had to leave out.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "rules/report/json_stream.h"
#include "rules/report/report.h"

namespace dtype_guard::sarif {

// What GitHub takes from one upload.
struct Limits {
  std::size_t results = 25000;
  std::size_t flow_locations = 10000;  // of one result
  std::size_t locations = 1000;        // of one result
};

// What stayed out because of them.
struct Excess {
  std::size_t results = 0;
  std::size_t flow_locations = 0;
  std::size_t locations = 0;
};

inline constexpr std::string_view kSourceRoot = "%SRCROOT%";

// Rules that the catalog knows, then those that only the findings name.
std::map<std::string, std::size_t> rule_indices(const Report& report);

// Percent-encodes all bytes that may not stand in a URI's path.
std::string uri_path(std::string_view path);

// Where the tool and its rules are described; empty where neither is published.
struct Pages {
  std::string_view home;
  std::string_view rules;  // the folder of the rules' pages, "ID.md"
};

void write_tool(JsonStream& json, const Report& report, const std::map<std::string, std::size_t>& rules,
                const Pages& pages);
void write_bases(JsonStream& json, const Report& report);
void write_invocation(JsonStream& json, const Report& report, const Limits& limits, const Excess& excess);

}  // namespace dtype_guard::sarif
