// What the client can take, and what the server says it can do.
#pragma once

#include <string>

#include "analyzer/lsp/json.h"

namespace dtype_guard::lsp {

struct ClientCapabilities {
  Encoding encoding = Encoding::kUtf16;
  bool related_information = false;
  bool code_description = false;
  bool diagnostic_data = false;
  bool diagnostic_tags = false;
  bool diagnostic_versions = false;
  bool code_action_literals = false;
  bool code_action_preferred = false;
  bool document_changes = false;  // edits with versions
  bool markdown = false;          // in hovers
  bool definition_links = false;
  bool work_done_progress = false;
  bool watches_files = false;  // when asked to
  bool registers_configuration = false;
  bool gives_configuration = false;
  bool inlay_hints = false;
  bool refreshes_inlay_hints = false;
  bool takes_state = false;  // "dtypeLint/state" after each answer: whether it is the last word
};

// From the parameters of initialize; the first encoding of the client's list that is known counts.
ClientCapabilities read_capabilities(const Json& params);
Json server_capabilities(const ClientCapabilities& client);
// What is registered later, where the client can do so.
Json registrations(const ClientCapabilities& client);

}  // namespace dtype_guard::lsp
