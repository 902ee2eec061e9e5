// SPDX-License-Identifier: BSD-2-Clause-Patent
// A context: pictures in, the engine's session behind them, scores out.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "picture.hpp"
#include "request.hpp"
#include "store.hpp"

namespace compat {

/// A pair that the engine may be looking at: it holds references.
struct Pair {
    VmafPicture ref{}, dist{};
    std::atomic<int64_t>* held = nullptr; ///< how many there are

    Pair(const VmafPicture& ref, const VmafPicture& dist, std::atomic<int64_t>* held);
    ~Pair();
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
};

/// What QUALITY_CUDA_BACKEND and gpumask say.
enum class Wish { kAuto, kCpu, kCuda };

/// The engine's session of a context, and which of its rows belongs to which index. From one thread at a time.
class Scoring {
public:
    Scoring(const VmafConfiguration& config, Wish wish, ScoreStore& scores)
        : config_(config), wish_(wish), scores_(scores) {}
    ~Scoring() { close(); }
    Scoring(const Scoring&) = delete;
    Scoring& operator=(const Scoring&) = delete;

    void use_device(std::shared_ptr<Device> device) { device_ = std::move(device); }
    bool may_use_device() const { return wish_ != Wish::kCpu; }

    bool has_begun() const { return first_.has_value(); }
    bool is_flushed() const { return flushed_; }
    const std::optional<PictureShape>& shape() const { return first_; }
    double fps() const;

    /// @return 0: the pair has references of its own now; otherwise nothing happened
    int read(ScoreRequest& request, const VmafPicture& ref, const VmafPicture& dist, unsigned index);
    int flush(ScoreRequest& request);
    /// Has the scores of an index come, if no further picture is needed for that.
    void reach(ScoreRequest& request, unsigned index);
    /// Takes what is finished.
    void collect();
    /// Waits for a pair that the engine holds. @return whether something came of it
    bool wait_for_a_pair();
    bool holds_pairs() const { return held_ > 0; }
    /// The session goes, the scores stay.
    void close();

private:
    int check_pair(const ScoreRequest& request, const VmafPicture& ref, const VmafPicture& dist, unsigned index) const;
    qc_config session_config(ScoreRequest& request, qc_backend backend) const;
    int start(ScoreRequest& request, bool is_small);
    qc_status open(ScoreRequest& request, qc_backend backend, qc_error* error);
    int submit(std::unique_ptr<Pair> pair);
    /// @return what the engine says of the next row
    qc_status receive(int wait);
    void order_columns();

    const VmafConfiguration config_;
    const Wish wish_;
    ScoreStore& scores_;
    std::shared_ptr<Device> device_;
    std::optional<PictureShape> first_;
    Place place_ = Place::kHost;
    bool flushed_ = false;

    std::unique_ptr<Pair> pending_; ///< the first pair, while it is not known whether there will be others
    qc_session* session_ = nullptr;
    qc_status failure_ = QC_OK;
    std::atomic<int64_t> held_ = 0;
    std::vector<std::string> names_; ///< of the session's scores; "" of what is a model's
    std::vector<size_t> column_order_;
    std::vector<unsigned> indices_;     ///< by position
    std::map<unsigned, size_t> strays_; ///< positions of indices that are not their own position
    size_t received_ = 0;               ///< rows
    std::chrono::steady_clock::time_point began_, last_;
};

} // namespace compat

struct VmafContext {
    explicit VmafContext(const VmafConfiguration& config);

    std::mutex mutex; ///< of all below
    compat::ScoreStore scores;
    compat::Scoring scoring;
    compat::ScoreRequest request;
    std::shared_ptr<compat::Device> device;
    std::shared_ptr<compat::PicturePool> pool, device_pool;
    unsigned every; ///< n_subsample

    /// The score of a model, from the store or predicted for it.
    int score(compat::LoadedModel& model, unsigned index, double* score);
    int score(VmafModelCollection& collection, unsigned index, VmafModelCollectionScore* score);
    std::optional<double> feature(const std::string& name, unsigned index);
    int pooled(const std::string& name, VmafPoolingMethod method, unsigned low, unsigned high, double* score);

private:
    int predict(compat::LoadedModel& model, unsigned index, std::vector<double>* scores);
};

namespace compat {

/// How reports call the members of a collection and what is made of them, in the order of Predictor's outputs.
std::vector<std::string> collection_names(const std::string& name, size_t outputs);

} // namespace compat
