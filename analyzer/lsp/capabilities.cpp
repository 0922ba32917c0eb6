#include "analyzer/lsp/capabilities.h"

#include <algorithm>
#include <string_view>

namespace dtype_guard::lsp {

namespace {

bool holds(const Json& list, std::string_view word) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& each) { return each.is_string() && each.get<std::string>() == word; });
}

}  // namespace

ClientCapabilities read_capabilities(const Json& params) {
  const Json& all = at(params, "capabilities");
  const Json& text = at(all, "textDocument");
  const Json& diagnostics = at(text, "publishDiagnostics");
  const Json& workspace = at(all, "workspace");
  ClientCapabilities out;
  for (const Json& each : list_at(all, "general", "positionEncodings")) {
    if (each != "utf-8" && each != "utf-16") continue;
    out.encoding = each == "utf-8" ? Encoding::kUtf8 : Encoding::kUtf16;
    break;
  }
  out.related_information = is_true_at(diagnostics, "relatedInformation");
  out.code_description = is_true_at(diagnostics, "codeDescriptionSupport");
  out.diagnostic_data = is_true_at(diagnostics, "dataSupport");
  out.diagnostic_tags = at(diagnostics, "tagSupport").is_object();
  out.diagnostic_versions = is_true_at(diagnostics, "versionSupport");
  out.code_action_literals = at(text, "codeAction", "codeActionLiteralSupport").is_object();
  out.code_action_preferred = is_true_at(text, "codeAction", "isPreferredSupport");
  out.document_changes = is_true_at(workspace, "workspaceEdit", "documentChanges");
  out.markdown = holds(list_at(text, "hover", "contentFormat"), "markdown");
  out.definition_links = is_true_at(text, "definition", "linkSupport");
  out.work_done_progress = is_true_at(all, "window", "workDoneProgress");
  out.watches_files = is_true_at(workspace, "didChangeWatchedFiles", "dynamicRegistration");
  out.registers_configuration = is_true_at(workspace, "didChangeConfiguration", "dynamicRegistration");
  out.gives_configuration = is_true_at(workspace, "configuration");
  out.inlay_hints = at(text, "inlayHint").is_object();
  out.refreshes_inlay_hints = is_true_at(workspace, "inlayHint", "refreshSupport");
  out.takes_state = is_true_at(all, "experimental", "dtypeLintState");
  return out;
}

Json server_capabilities(const ClientCapabilities& client) {
  Json out = {
      {"positionEncoding", client.encoding == Encoding::kUtf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}},
  };
  if (client.code_action_literals)
    out["codeActionProvider"] = {{"codeActionKinds", {"quickfix", "source.fixAll.dtypeLint"}}};
  if (client.inlay_hints) out["inlayHintProvider"] = true;
  return out;
}

Json registrations(const ClientCapabilities& client) {
  Json out = Json::array();
  if (client.watches_files) {
    // Every kind of file that a run rests on: sources, settings, and what pins versions of libraries.
    Json watchers = Json::array();
    for (const char* glob :
         {"**/*.{py,pyi,c,cc,cpp,cxx,cu,h,hh,hpp,hxx,cuh,inl}", "**/{.dtype-lint.json,pyproject.toml}",
          "**/{compile_commands.json,.gitignore}", "**/{requirements*.txt,setup.cfg,setup.py,*.lock}"})
      watchers.push_back({{"globPattern", glob}});
    out.push_back({{"id", "dtype-lint-files"},
                   {"method", "workspace/didChangeWatchedFiles"},
                   {"registerOptions", {{"watchers", std::move(watchers)}}}});
  }
  if (client.registers_configuration) {
    out.push_back({{"id", "dtype-lint-configuration"},
                   {"method", "workspace/didChangeConfiguration"},
                   {"registerOptions", {{"section", "dtypeLint"}}}});
  }
  return out;
}

}  // namespace dtype_guard::lsp
