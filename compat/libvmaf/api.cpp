// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's functions.
#pragma GCC visibility push(default)
#include <libvmaf/libvmaf_cuda.h>
#pragma GCC visibility pop

#include <fstream>

#include "context.hpp"
#include "log.hpp"
#include "report.hpp"

using compat::guarded;
using compat::refused;

namespace {

template <typename... Pointers>
bool any_null(const Pointers*... pointers) {
    return (... || (pointers == nullptr));
}

/// A call on a context: one at a time, and no exception leaves it.
template <typename Body>
int locked(VmafContext* vmaf, Body&& body) {
    return guarded([&] {
        const std::lock_guard lock(vmaf->mutex);
        return body();
    });
}

bool is_method(VmafPoolingMethod method) {
    return method > VMAF_POOL_METHOD_UNKNOWN && method < VMAF_POOL_METHOD_NB;
}

/// @param is_collection which of the two is wanted
int open_model(const std::string& source, const VmafModelConfig& config, bool is_collection,
               std::unique_ptr<VmafModel>* model) {
    auto opened = std::make_unique<VmafModel>(source, config);
    const std::shared_ptr<compat::Predictor> predictor = opened->loaded.predictor();
    if (predictor == nullptr) return -EINVAL;
    if ((predictor->outputs() > 1) != is_collection)
        return refused(is_collection ? "it is a single model, no collection"
                                     : "it is a collection of models, no single one");
    *model = std::move(opened);
    return 0;
}

int open_version(const char* version, std::string* source) {
    std::string known;
    const char* name = nullptr;
    for (int i = 0; (name = qc_model_name(i)) != nullptr; ++i) {
        known += std::string(i > 0 ? ", " : "") + name;
        if (std::string_view(version) != name) continue;
        *source = "version=" + compat::escaped(version);
        return 0;
    }
    return refused("there is no built-in model \"" + std::string(version) + "\", known are " + known);
}

int load_model(VmafModel** model, const std::string& source, const VmafModelConfig& config) {
    std::unique_ptr<VmafModel> opened;
    if (const int error = open_model(source, config, false, &opened); error != 0) return error;
    *model = opened.release();
    return 0;
}

int load_collection(VmafModel** model, VmafModelCollection** collection, const std::string& source,
                    const VmafModelConfig& config) {
    std::unique_ptr<VmafModel> opened;
    if (const int error = open_model(source, config, true, &opened); error != 0) return error;
    *collection = new VmafModelCollection(source, config);
    *model = opened.release();
    return 0;
}

/// Of both sorts of pools: clients mix them up.
int fetch(VmafContext* vmaf, const std::shared_ptr<compat::PicturePool>& pool, VmafPicture* picture) {
    while (true) {
        int taken = pool->take(false, picture);
        if (taken != -EAGAIN) return taken;
        {
            const std::lock_guard lock(vmaf->mutex);
            vmaf->scoring.collect();
            taken = pool->take(false, picture);
            while (taken == -EAGAIN && vmaf->scoring.holds_pairs())
                taken =
                    pool->take(!vmaf->scoring.wait_for_a_pair(), picture); // what waits for a later picture stays held
        }
        if (taken != -EAGAIN) return taken;
        pool->wait();
    }
}

} // namespace

int vmaf_init(VmafContext** vmaf, VmafConfiguration cfg) {
    if (any_null(vmaf)) return -EINVAL;
    return guarded([&] {
        compat::set_log_level(cfg.log_level);
        *vmaf = new VmafContext(cfg);
        return 0;
    });
}

int vmaf_close(VmafContext* vmaf) {
    if (any_null(vmaf)) return -EINVAL;
    delete vmaf;
    return 0;
}

const char* vmaf_version(void) {
    return "3.2.0-quality_cuda-" QC_VERSION;
}

// ---- models ----

int vmaf_model_load(VmafModel** model, VmafModelConfig* cfg, const char* version) {
    if (any_null(model, cfg, version)) return -EINVAL;
    return guarded([&] {
        std::string source;
        const int error = open_version(version, &source);
        return error != 0 ? error : load_model(model, source, *cfg);
    });
}

int vmaf_model_load_from_path(VmafModel** model, VmafModelConfig* cfg, const char* path) {
    if (any_null(model, cfg, path)) return -EINVAL;
    return guarded([&] { return load_model(model, "path=" + compat::escaped(path), *cfg); });
}

int vmaf_model_collection_load(VmafModel** model, VmafModelCollection** model_collection, VmafModelConfig* cfg,
                               const char* version) {
    if (any_null(model, model_collection, cfg, version)) return -EINVAL;
    return guarded([&] {
        std::string source;
        const int error = open_version(version, &source);
        return error != 0 ? error : load_collection(model, model_collection, source, *cfg);
    });
}

int vmaf_model_collection_load_from_path(VmafModel** model, VmafModelCollection** model_collection,
                                         VmafModelConfig* cfg, const char* path) {
    if (any_null(model, model_collection, cfg, path)) return -EINVAL;
    return guarded([&] { return load_collection(model, model_collection, "path=" + compat::escaped(path), *cfg); });
}

int vmaf_model_feature_overload(VmafModel* model, const char* feature_name, VmafFeatureDictionary* opts_dict) {
    const std::unique_ptr<VmafFeatureDictionary> taken(opts_dict);
    if (any_null(model, feature_name, opts_dict)) return -EINVAL;
    return guarded([&] {
        model->loaded.overload(feature_name, *opts_dict);
        return 0;
    });
}

int vmaf_model_collection_feature_overload(VmafModel* model, VmafModelCollection** model_collection,
                                           const char* feature_name, VmafFeatureDictionary* opts_dict) {
    const std::unique_ptr<VmafFeatureDictionary> taken(opts_dict);
    if (any_null(model, model_collection, feature_name, opts_dict) || *model_collection == nullptr) return -EINVAL;
    return guarded([&] {
        model->loaded.overload(feature_name, *opts_dict);
        (*model_collection)->loaded.overload(feature_name, *opts_dict);
        return 0;
    });
}

void vmaf_model_destroy(VmafModel* model) {
    delete model;
}

void vmaf_model_collection_destroy(VmafModelCollection* model_collection) {
    delete model_collection;
}

// ---- features ----

int vmaf_feature_dictionary_set(VmafFeatureDictionary** dict, const char* key, const char* val) {
    if (any_null(dict, key, val)) return -EINVAL;
    return guarded([&] {
        auto made = *dict == nullptr ? std::make_unique<VmafFeatureDictionary>() : nullptr;
        VmafFeatureDictionary* const target = made != nullptr ? made.get() : *dict;
        target->values[key] = val;
        static_cast<void>(made.release());
        *dict = target;
        return 0;
    });
}

int vmaf_feature_dictionary_free(VmafFeatureDictionary** dict) {
    if (any_null(dict)) return -EINVAL;
    delete std::exchange(*dict, nullptr);
    return 0;
}

int vmaf_use_feature(VmafContext* vmaf, const char* feature_name, VmafFeatureDictionary* opts_dict) {
    if (any_null(vmaf, feature_name)) return -EINVAL;
    return locked(vmaf, [&] { return vmaf->request.add_feature(feature_name, &opts_dict, vmaf->scoring.has_begun()); });
}

int vmaf_use_features_from_model(VmafContext* vmaf, VmafModel* model) {
    if (any_null(vmaf, model)) return -EINVAL;
    return locked(vmaf, [&] { return vmaf->request.add_model(model->loaded, vmaf->scoring.has_begun()); });
}

int vmaf_use_features_from_model_collection(VmafContext* vmaf, VmafModelCollection* model_collection) {
    if (any_null(vmaf, model_collection)) return -EINVAL;
    return locked(vmaf, [&] { return vmaf->request.add_model(model_collection->loaded, vmaf->scoring.has_begun()); });
}

int vmaf_import_feature_score(VmafContext* vmaf, const char* feature_name, double value, unsigned index) {
    if (any_null(vmaf, feature_name)) return -EINVAL;
    return locked(vmaf, [&] {
        const std::string name = compat::report_name(feature_name);
        return vmaf->scores.add(name, index, value)
                   ? 0
                   : refused(name + " of index " + std::to_string(index) + " is there already");
    });
}

// ---- pictures ----

int vmaf_picture_alloc(VmafPicture* pic, enum VmafPixelFormat pix_fmt, unsigned bpc, unsigned w, unsigned h) {
    if (any_null(pic)) return -EINVAL;
    return guarded([&] {
        const compat::PictureShape shape{pix_fmt, bpc, w, h};
        if (const int error = compat::check_shape(shape); error != 0) return error;
        std::unique_ptr<VmafRef> memory = compat::allocate_picture(shape, compat::Place::kHost, nullptr);
        if (memory == nullptr) return -ENOMEM;
        compat::give(std::move(memory), pic);
        return 0;
    });
}

int vmaf_picture_unref(VmafPicture* pic) {
    if (any_null(pic) || pic->ref == nullptr) return -EINVAL;
    compat::drop_reference(pic);
    return 0;
}

/// In no header of libvmaf's, but there; some programs use it.
extern "C" QC_API int vmaf_picture_ref(VmafPicture* dst, VmafPicture* src) {
    if (any_null(dst, src) || src->ref == nullptr) return -EINVAL;
    compat::add_reference(*src);
    *dst = *src;
    return 0;
}

int vmaf_preallocate_pictures(VmafContext* vmaf, VmafPictureConfiguration cfg) {
    if (any_null(vmaf)) return -EINVAL;
    return locked(vmaf, [&] {
        const compat::PictureShape shape{cfg.pic_params.pix_fmt, cfg.pic_params.bpc, cfg.pic_params.w,
                                         cfg.pic_params.h};
        if (const int error = compat::check_shape(shape); error != 0) return error;
        vmaf->pool = std::make_shared<compat::PicturePool>(shape, compat::Place::kHost, nullptr, cfg.pic_cnt);
        return 0;
    });
}

int vmaf_fetch_preallocated_picture(VmafContext* vmaf, VmafPicture* pic) {
    if (any_null(vmaf, pic)) return -EINVAL;
    return guarded([&] {
        std::shared_ptr<compat::PicturePool> pool;
        {
            const std::lock_guard lock(vmaf->mutex);
            pool = vmaf->pool;
        }
        return pool == nullptr ? refused("a picture is fetched from no pool") : fetch(vmaf, pool, pic);
    });
}

int vmaf_read_pictures(VmafContext* vmaf, VmafPicture* ref, VmafPicture* dist, unsigned index) {
    if (any_null(vmaf) || any_null(ref) != any_null(dist)) return -EINVAL;
    return locked(vmaf, [&] {
        if (ref == nullptr) return vmaf->scoring.flush(vmaf->request);
        const int error = vmaf->scoring.read(vmaf->request, *ref, *dist, index);
        if (error != 0) return error;
        static_cast<void>(vmaf_picture_unref(ref));
        static_cast<void>(vmaf_picture_unref(dist));
        return 0;
    });
}

// ---- scores ----

int vmaf_score_at_index(VmafContext* vmaf, VmafModel* model, double* score, unsigned index) {
    if (any_null(vmaf, model, score)) return -EINVAL;
    return locked(vmaf, [&] { return vmaf->score(model->loaded, index, score); });
}

int vmaf_score_at_index_model_collection(VmafContext* vmaf, VmafModelCollection* model_collection,
                                         VmafModelCollectionScore* score, unsigned index) {
    if (any_null(vmaf, model_collection, score)) return -EINVAL;
    return locked(vmaf, [&] { return vmaf->score(*model_collection, index, score); });
}

int vmaf_feature_score_at_index(VmafContext* vmaf, const char* feature_name, double* score, unsigned index) {
    if (any_null(vmaf, feature_name, score)) return -EINVAL;
    return locked(vmaf, [&] {
        const std::string name = compat::report_name(feature_name);
        const std::optional<double> value = vmaf->feature(name, index);
        if (!value) return refused("no feature '" + name + "' at index " + std::to_string(index));
        *score = *value;
        return 0;
    });
}

int vmaf_score_pooled(VmafContext* vmaf, VmafModel* model, enum VmafPoolingMethod pool_method, double* score,
                      unsigned index_low, unsigned index_high) {
    if (any_null(vmaf, model, score) || index_low > index_high || !is_method(pool_method)) return -EINVAL;
    return locked(vmaf, [&] {
        double each = 0;
        for (uint64_t index = index_low; index <= index_high; ++index)
            if (index % vmaf->every == 0)
                if (const int error = vmaf->score(model->loaded, static_cast<unsigned>(index), &each); error != 0)
                    return error;
        return vmaf->pooled(model->loaded.name(), pool_method, index_low, index_high, score);
    });
}

int vmaf_score_pooled_model_collection(VmafContext* vmaf, VmafModelCollection* model_collection,
                                       enum VmafPoolingMethod pool_method, VmafModelCollectionScore* score,
                                       unsigned index_low, unsigned index_high) {
    if (any_null(vmaf, model_collection, score) || index_low > index_high || !is_method(pool_method)) return -EINVAL;
    return locked(vmaf, [&] {
        const std::string& name = model_collection->loaded.name();
        VmafModelCollectionScore each{};
        for (uint64_t index = index_low; index <= index_high; ++index)
            if (index % vmaf->every == 0 && !vmaf->scores.find(name + "_bagging", static_cast<unsigned>(index)))
                if (const int error = vmaf->score(*model_collection, static_cast<unsigned>(index), &each); error != 0)
                    return error;
        VmafModelCollectionScore pooled{VMAF_MODEL_COLLECTION_SCORE_BOOTSTRAP, {}};
        const std::pair<const char*, double*> parts[] = {{"_bagging", &pooled.bootstrap.bagging_score},
                                                         {"_stddev", &pooled.bootstrap.stddev},
                                                         {"_ci_p95_lo", &pooled.bootstrap.ci.p95.lo},
                                                         {"_ci_p95_hi", &pooled.bootstrap.ci.p95.hi}};
        for (const auto& [end, value] : parts)
            if (const int error = vmaf->pooled(name + end, pool_method, index_low, index_high, value); error != 0)
                return error;
        *score = pooled;
        return 0;
    });
}

int vmaf_feature_score_pooled(VmafContext* vmaf, const char* feature_name, enum VmafPoolingMethod pool_method,
                              double* score, unsigned index_low, unsigned index_high) {
    if (any_null(vmaf, feature_name, score) || index_low > index_high || !is_method(pool_method)) return -EINVAL;
    return locked(vmaf, [&] {
        vmaf->scoring.reach(vmaf->request, index_high);
        return vmaf->pooled(compat::report_name(feature_name), pool_method, index_low, index_high, score);
    });
}

int vmaf_write_output(VmafContext* vmaf, const char* output_path, enum VmafOutputFormat fmt) {
    if (any_null(vmaf, output_path)) return -EINVAL;
    return locked(vmaf, [&] {
        std::ofstream file(output_path, std::ios::binary | std::ios::trunc);
        if (!file) return refused("could not open file: " + std::string(output_path));
        if (fmt <= VMAF_OUTPUT_FORMAT_NONE || fmt > VMAF_OUTPUT_FORMAT_SUB)
            return refused("a report of the format " + std::to_string(fmt) + ": 1 to 4 are known");
        vmaf->scoring.collect();
        const compat::PictureShape shape = vmaf->scoring.shape().value_or(compat::PictureShape{});
        file << compat::report_text(vmaf->scores, {shape.w, shape.h, vmaf->every, vmaf->scoring.fps()}, fmt);
        file.close();
        return file ? 0 : compat::failed(QC_ERROR_DEVICE, "could not write file: " + std::string(output_path));
    });
}

/// In no header of libvmaf's either: who is told of scores of one name as they come, in the thread of a call.
struct VmafMetadata {
    char* feature_name;
    unsigned picture_index;
    double score;
};
struct VmafMetadataHandler {
    char* feature_name;
    void (*callback)(void* data, VmafMetadata* metadata);
    void* data;
};

extern "C" QC_API int vmaf_register_metadata_handler(VmafContext* vmaf, VmafMetadataHandler handler) {
    if (any_null(vmaf, handler.feature_name) || handler.callback == nullptr) return -EINVAL;
    return locked(vmaf, [&] {
        std::string name = handler.feature_name;
        vmaf->scores.listen(compat::report_name(name), [handler, name](unsigned index, double value) mutable {
            VmafMetadata metadata{name.data(), index, value};
            handler.callback(handler.data, &metadata);
        });
        return 0;
    });
}

// ---- CUDA ----

struct VmafCudaState {
    std::shared_ptr<compat::Device> device;
};

int vmaf_cuda_state_init(VmafCudaState** cu_state, VmafCudaConfiguration cfg) {
    if (any_null(cu_state)) return -EINVAL;
    return guarded([&] {
        std::shared_ptr<compat::Device> device = compat::Device::open(cfg.cu_ctx);
        if (device == nullptr) return -EINVAL;
        *cu_state = new VmafCudaState{std::move(device)};
        return 0;
    });
}

int vmaf_cuda_import_state(VmafContext* vmaf, VmafCudaState* cu_state) {
    if (any_null(vmaf, cu_state)) return -EINVAL;
    return locked(vmaf, [&] {
        if (vmaf->scoring.has_begun()) return refused("the GPU is named behind the first picture");
        vmaf->device = cu_state->device;
        vmaf->scoring.use_device(vmaf->device);
        return 0;
    });
}

int vmaf_cuda_release(VmafCudaState* cu_state) {
    if (any_null(cu_state)) return -EINVAL;
    delete cu_state;
    return 0;
}

int vmaf_cuda_preallocate_pictures(VmafContext* vmaf, VmafCudaPictureConfiguration cfg) {
    constexpr unsigned kOfDevice = 64; ///< two batches, and those that are being filled
    constexpr unsigned kOfHost = ~0u;  ///< clients drop some without a word, so nobody waits for them
    if (any_null(vmaf)) return -EINVAL;
    return locked(vmaf, [&] {
        const compat::PictureShape shape{cfg.pic_params.pix_fmt, cfg.pic_params.bpc, cfg.pic_params.w,
                                         cfg.pic_params.h};
        if (const int error = compat::check_shape(shape); error != 0) return error;
        const VmafCudaPicturePreallocationMethod method = cfg.pic_prealloc_method;
        if (method < VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_NONE ||
            method > VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST_PINNED)
            return refused("pictures are preallocated by the method " + std::to_string(method) + ": 0 to 3 are known");
        vmaf->device_pool = nullptr;
        if (method == VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_NONE) return 0;
        if (vmaf->device == nullptr && method != VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST)
            return refused("pictures on a device are asked for before vmaf_cuda_import_state()");
        const auto make = [&](compat::Place place, unsigned most) {
            return std::make_shared<compat::PicturePool>(shape, place,
                                                         place == compat::Place::kHost ? nullptr : vmaf->device, most);
        };
        if (method == VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE)
            vmaf->device_pool = make(compat::Place::kDevice, kOfDevice);
        else
            vmaf->device_pool = make(method == VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST ? compat::Place::kHost
                                                                                           : compat::Place::kPinned,
                                     kOfHost);
        // Who fetches by the other function wants pictures of the host.
        vmaf->pool = make(compat::Place::kHost, kOfHost);
        return 0;
    });
}

int vmaf_cuda_fetch_preallocated_picture(VmafContext* vmaf, VmafPicture* pic) {
    if (any_null(vmaf, pic)) return -EINVAL;
    return guarded([&] {
        std::shared_ptr<compat::PicturePool> pool;
        {
            const std::lock_guard lock(vmaf->mutex);
            pool = vmaf->device_pool;
            if (pool == nullptr) return refused("a picture is fetched from no pool");
            if (pool->place() == compat::Place::kDevice && !vmaf->scoring.may_use_device())
                return refused(
                    "a picture in device memory is fetched, and QUALITY_CUDA_BACKEND or gpumask asks for the CPU");
        }
        return fetch(vmaf, pool, pic);
    });
}
