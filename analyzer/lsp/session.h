// One client's session: what each message means, in which order, and what is answered. It knows neither pipes
// nor the analysis; messages for both sides are handed to functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/lsp/capabilities.h"
#include "analyzer/lsp/documents.h"
#include "analyzer/lsp/message_stream.h"

namespace dtype_guard::lsp {

using Clock = std::chrono::steady_clock;

class Session {
 public:
  using Send = std::function<void(const Json&)>;
  Session(std::string version, Send to_client, Send to_analysis)
      : version_(std::move(version)),
        to_client_(std::move(to_client)),
        to_analysis_(std::move(to_analysis)) {}

  void receive(const Received& received);
  void client_has_gone();
  void from_analysis(const Json& message);
  // It ended by itself while it was at that file, and another one runs now.
  void analysis_restarted(const std::string& how, const std::string& file);

  // When at_time() wants to be called.
  std::optional<Clock::time_point> wakes_at() const { return analyse_at_; }
  void at_time(Clock::time_point now);
  std::optional<int> exit_status() const { return exit_status_; }
  // Of the client, as it said; 0: it did not.
  int client_process() const { return client_process_; }

 private:
  enum class Phase : std::uint8_t { kNew, kRunning, kShutDown };
  // What the client waits for, and the analysis was asked.
  struct Pending {
    Json id;
    std::string method;
  };

  // session.cpp
  void request(const Json& id, const std::string& method, const Json& params);
  void notification(const std::string& method, const Json& params);
  void respond(const Json& id, Json result);
  void refuse(const Json& id, int code, const std::string& message);
  void notify(const std::string& method, Json params);
  void ask_client(const std::string& method, Json params);
  void tell(int kind, const std::string& text, bool shown);
  void initialize(const Json& id, const Json& params);
  void initialized();
  void from_client(const Json& response);
  void cancel(const Json& id);
  void ask_analysis(const Json& id, const std::string& method, const Json& params);

  // session_state.cpp: what the analysis works on
  void document(const std::string& method, const Json& params);
  void folders_changed(const Json& event);
  void files_changed(const Json& changes);
  void configured(const Json& settings);
  Json setup() const;
  void send_text(const std::string& path);
  void everything_anew();
  void analyse_soon();
  void analyse_now();

  // session_answers.cpp: what it says
  void result(const Json& message);
  void publish(const std::string& path, const Json& diagnostics);
  void progress(const Json& at);

  std::string version_;
  Send to_client_, to_analysis_;
  Phase phase_ = Phase::kNew;
  ClientCapabilities client_;
  Documents documents_{Encoding::kUtf16};
  std::vector<std::string> folders_;
  std::vector<std::string> arguments_;       // of the client's settings
  bool only_open_ = false;                   // likewise: diagnostics of open files alone
  std::int64_t exact_after_ = 1000;          // likewise: milliseconds of rest before the last word
  std::map<std::int64_t, Pending> pending_;  // by the number that the analysis knows it by
  std::int64_t asked_ = 0;
  std::map<std::string, std::string> asked_client_;  // what of it, by id
  std::int64_t asked_of_client_ = 0;
  std::int64_t generation_ = 0;  // of the last analysis asked for
  std::optional<Clock::time_point> analyse_at_, asked_at_;
  Clock::duration last_took_{};
  struct Published {
    Json diagnostics;
    std::int64_t version = -1;
  };
  std::map<std::string, Published> published_;  // by path
  std::map<std::string, Json> known_;           // diagnostics of all files, by path
  std::set<std::string> broken_;                // files that took the analysis down, until they change
  std::string progress_;                        // its token; empty: none is shown
  std::optional<int> exit_status_;
  int client_process_ = 0;
  Json initial_settings_;  // which hold where the client has none
};

}  // namespace dtype_guard::lsp
