#include "analyzer/lsp/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

namespace dtype_guard::lsp {

namespace {

// JSON-RPC's codes, and LSP's.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kNotInitialized = -32002;
constexpr int kCancelled = -32800;

constexpr std::array<std::string_view, 4> kAsked = {"textDocument/hover", "textDocument/definition",
                                                    "textDocument/codeAction", "textDocument/inlayHint"};

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

}  // namespace

void Session::respond(const Json& id, Json result) {
  to_client_({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}
void Session::refuse(const Json& id, int code, const std::string& message) {
  to_client_({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}
void Session::notify(const std::string& method, Json params) {
  to_client_({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}
void Session::ask_client(const std::string& method, Json params) {
  const std::string id = fmt::format("dtype-lint-{}", ++asked_of_client_);
  asked_client_[id] = method;
  to_client_({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}
void Session::tell(int kind, const std::string& text, bool shown) {
  notify(shown ? "window/showMessage" : "window/logMessage", {{"type", kind}, {"message", text}});
}

void Session::receive(const Received& received) {
  if (exit_status_) return;
  if (!received.problem.empty()) return refuse(nullptr, kParseError, received.problem);
  const Json message = parsed(received.body);
  if (message.is_discarded()) return refuse(nullptr, kParseError, "the message is no JSON in UTF-8");
  if (!message.is_object())
    return refuse(nullptr, kInvalidRequest, "the message is no object; batches are not part of LSP");
  const Json& id = at(message, "id");
  const Json& method = at(message, "method");
  if (!method.is_string()) {
    const bool answers = message.contains("result") || message.contains("error");
    if (answers) return from_client(message);
    return refuse(is_id(id) ? id : Json(), kInvalidRequest, "the message has no method");
  }
  if (!message.contains("id")) return notification(method.get<std::string>(), at(message, "params"));
  if (!is_id(id)) return refuse(nullptr, kInvalidRequest, "an id is a number or a string");
  request(id, method.get<std::string>(), at(message, "params"));
}

void Session::client_has_gone() {
  if (!exit_status_) exit_status_ = phase_ == Phase::kShutDown ? 0 : 1;
}

void Session::request(const Json& id, const std::string& method, const Json& params) {
  if (phase_ == Phase::kShutDown) return refuse(id, kInvalidRequest, "the server was shut down");
  if (method == "initialize") {
    if (phase_ != Phase::kNew) return refuse(id, kInvalidRequest, "the server is initialized already");
    return initialize(id, params);
  }
  if (phase_ == Phase::kNew) return refuse(id, kNotInitialized, "initialize comes first");
  if (method == "shutdown") {
    for (const auto& [number, each] : pending_) refuse(each.id, kCancelled, "the server was shut down");
    pending_.clear();
    analyse_at_.reset();
    phase_ = Phase::kShutDown;
    return respond(id, nullptr);
  }
  if (std::find(kAsked.begin(), kAsked.end(), method) != kAsked.end()) {
    return ask_analysis(id, method, params);
  }
  refuse(id, kMethodNotFound, fmt::format("'{}' is not known here", method));
}

void Session::notification(const std::string& method, const Json& params) {
  if (method == "exit") return client_has_gone();
  if (phase_ != Phase::kRunning) return;
  if (method == "initialized") return initialized();
  if (method == "$/cancelRequest") return cancel(at(params, "id"));
  if (method.starts_with("textDocument/did")) return document(method, params);
  if (method == "workspace/didChangeWatchedFiles") return files_changed(list_at(params, "changes"));
  if (method == "workspace/didChangeWorkspaceFolders") return folders_changed(at(params, "event"));
  if (method == "workspace/didChangeConfiguration") {
    // A client that can be asked may send nothing of worth here.
    if (client_.gives_configuration)
      return ask_client("workspace/configuration", {{"items", Json::array({{{"section", "dtypeLint"}}})}});
    return configured(at(params, "settings", "dtypeLint"));
  }
}

void Session::initialize(const Json& id, const Json& params) {
  client_ = read_capabilities(params);
  documents_.set_encoding(client_.encoding);
  for (const Json& each : list_at(params, "workspaceFolders")) {
    const std::string path = path_of(text_at(each, "uri"));
    if (!path.empty()) folders_.push_back(path);
  }
  if (folders_.empty()) {
    std::string root = path_of(text_at(params, "rootUri"));
    if (root.empty()) root = text_at(params, "rootPath");
    if (root.starts_with('/')) folders_.push_back(root);
  }
  phase_ = Phase::kRunning;
  respond(id, {{"capabilities", server_capabilities(client_)},
               {"serverInfo", {{"name", "dtype-lint"}, {"version", version_}}}});
  const Json& options = at(params, "initializationOptions");
  initial_settings_ = at(options, "dtypeLint").is_null() ? options : at(options, "dtypeLint");
  configured(initial_settings_);
  const Json& process = at(params, "processId");
  if (process.is_number_integer()) client_process_ = process.get<int>();
}

void Session::initialized() {
  const Json wanted = registrations(client_);
  if (!wanted.empty()) ask_client("client/registerCapability", {{"registrations", wanted}});
  if (client_.gives_configuration)
    ask_client("workspace/configuration", {{"items", Json::array({{{"section", "dtypeLint"}}})}});
}

// What the client answers to a request of this side.
void Session::from_client(const Json& response) {
  const std::string id = text_at(response, "id");
  const auto found = asked_client_.find(id);
  if (found == asked_client_.end()) return;
  const std::string method = found->second;
  asked_client_.erase(found);
  if (phase_ != Phase::kRunning || method != "workspace/configuration") return;
  const Json& items = list_at(response, "result");
  if (!items.empty()) configured(items.front().is_object() ? items.front() : initial_settings_);
}

void Session::cancel(const Json& id) {
  for (const auto& [number, each] : pending_) {
    if (each.id != id) continue;
    refuse(id, kCancelled, "cancelled");
    to_analysis_({{"forget", number}});
    pending_.erase(number);
    return;
  }
}

void Session::ask_analysis(const Json& id, const std::string& method, const Json& params) {
  const std::string uri = text_at(params, "textDocument", "uri");
  if (uri.empty()) return refuse(id, kInvalidParams, fmt::format("{}: no textDocument.uri", method));
  const bool by_range = method == "textDocument/codeAction" || method == "textDocument/inlayHint";
  const bool is_placed = by_range ? read_range(at(params, "range")).has_value()
                                  : read_position(at(params, "position")).has_value();
  if (!is_placed)
    return refuse(id, kInvalidParams, fmt::format("{}: no {}", method, by_range ? "range" : "position"));
  const std::string path = path_of(uri);
  if (path.empty()) return respond(id, nullptr);
  analyse_now();
  pending_[++asked_] = {id, method};
  to_analysis_({{"ask", asked_}, {"method", method}, {"path", path}, {"uri", uri}, {"params", params}});
}

}  // namespace dtype_guard::lsp
