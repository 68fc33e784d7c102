/* The memory of record columns, and its export by the Arrow C data interface.
 *
 * Columns are counted references to one block of buffers. Every exported array shares that block, so
 * an imported array stays valid after the exporter is freed. Releasing it needs neither the
 * interpreter nor its lock. Source: the Arrow C data interface and C stream interface.
 */
#ifndef ALK_ARROW_COLUMNS_H
#define ALK_ARROW_COLUMNS_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _MSC_VER
#include <intrin.h>
#define ALK_ADD(counter, n) (_InterlockedExchangeAdd((counter), (n)) + (n))
#else
#define ALK_ADD(counter, n) __atomic_add_fetch((counter), (n), __ATOMIC_ACQ_REL)
#endif

#include "arrow_c_data.h"

/* The columns in the order of the schema. A set of columns is a mask of these bits. */
enum {
    ALK_TOPIC = 1,
    ALK_PARTITION = 2,
    ALK_OFFSET = 4,
    ALK_TIMESTAMP = 8,
    ALK_TIMESTAMP_TYPE = 16,
    ALK_KEY = 32,
    ALK_VALUE = 64,
    ALK_HEADERS = 128
};

typedef struct {
    char *data;
    int64_t size;
    int64_t capacity;
} alk_bytes;

/* Sizes grow with appended rows. A column has a validity bitmap once it has a null. */
typedef struct {
    long references;
    int fields;
    int64_t rows;
    int64_t row_capacity;
    int64_t headers;
    int64_t header_capacity;
    int32_t *topic_offsets;
    int32_t *partitions;
    int64_t *offsets;
    int64_t *timestamps;
    int32_t *timestamp_types;
    int32_t *key_offsets;
    int32_t *value_offsets;
    int32_t *header_offsets;
    int32_t *header_key_offsets;
    int32_t *header_value_offsets;
    uint8_t *timestamp_validity;
    uint8_t *key_validity;
    uint8_t *value_validity;
    uint8_t *header_value_validity;
    int64_t timestamp_nulls;
    int64_t key_nulls;
    int64_t value_nulls;
    int64_t header_value_nulls;
    alk_bytes topics;
    alk_bytes keys;
    alk_bytes values;
    alk_bytes header_keys;
    alk_bytes header_values;
} alk_columns;

/* Filling… All return 0, or -1 when memory runs out. */

static int alk_resize(void *pointer_to_pointer, int64_t size) {
    void *memory;
    memcpy(&memory, pointer_to_pointer, sizeof(memory));
    memory = realloc(memory, size > 0 ? (size_t)size : 1);
    if (memory == NULL)
        return -1;
    memcpy(pointer_to_pointer, &memory, sizeof(memory));
    return 0;
}

static int alk_resize_bitmap(uint8_t **bitmap, int64_t before, int64_t after) {
    int64_t used = (before + 7) / 8, size = (after + 7) / 8;
    if (*bitmap == NULL)
        return 0;
    if (alk_resize(bitmap, size))
        return -1;
    memset(*bitmap + used, 0xFF, (size_t)(size - used));
    return 0;
}

static int alk_grow_rows(alk_columns *self, int64_t wanted) {
    int64_t rows = self->row_capacity * 2;
    if (rows < wanted)
        rows = wanted;
    if (alk_resize(&self->topic_offsets, (rows + 1) * 4) || alk_resize(&self->partitions, rows * 4) ||
        alk_resize(&self->offsets, rows * 8) || alk_resize(&self->timestamps, rows * 8) ||
        alk_resize(&self->timestamp_types, rows * 4) ||
        alk_resize(&self->key_offsets, (rows + 1) * 4) ||
        alk_resize(&self->value_offsets, (rows + 1) * 4) ||
        alk_resize(&self->header_offsets, (rows + 1) * 4) ||
        alk_resize_bitmap(&self->timestamp_validity, self->row_capacity, rows) ||
        alk_resize_bitmap(&self->key_validity, self->row_capacity, rows) ||
        alk_resize_bitmap(&self->value_validity, self->row_capacity, rows))
        return -1;
    self->row_capacity = rows;
    return 0;
}

static inline int alk_reserve_rows(alk_columns *self, int64_t more) {
    return self->rows + more > self->row_capacity ? alk_grow_rows(self, self->rows + more) : 0;
}

static int alk_reserve_headers(alk_columns *self, int64_t wanted) {
    int64_t count = self->header_capacity * 2;
    if (wanted <= self->header_capacity)
        return 0;
    if (count < wanted)
        count = wanted;
    if (alk_resize(&self->header_key_offsets, (count + 1) * 4) ||
        alk_resize(&self->header_value_offsets, (count + 1) * 4) ||
        alk_resize_bitmap(&self->header_value_validity, self->header_capacity, count))
        return -1;
    self->header_capacity = count;
    return 0;
}

static int alk_grow_bytes(alk_bytes *self, int64_t wanted) {
    int64_t capacity = self->capacity * 2;
    if (capacity < wanted)
        capacity = wanted;
    if (capacity < 256)
        capacity = 256;
    if (alk_resize(&self->data, capacity))
        return -1;
    self->capacity = capacity;
    return 0;
}

static inline int alk_reserve_bytes(alk_bytes *self, int64_t wanted) {
    return wanted > self->capacity ? alk_grow_bytes(self, wanted) : 0;
}

/* Mark entry `index` as valid or null; `capacity` is the column's. */
static int alk_set_valid(uint8_t **bitmap, int64_t index, int64_t capacity, int is_valid) {
    uint8_t bit = (uint8_t)(1 << (index & 7));
    if (*bitmap == NULL) {
        int64_t size = (capacity + 7) / 8;
        if (is_valid)
            return 0;
        if (alk_resize(bitmap, size))
            return -1;
        memset(*bitmap, 0xFF, (size_t)size);
    }
    if (is_valid)
        (*bitmap)[index >> 3] |= bit;
    else
        (*bitmap)[index >> 3] &= (uint8_t)~bit;
    return 0;
}

static void alk_drop(alk_columns *self) {
    if (self == NULL || ALK_ADD(&self->references, -1) > 0)
        return;
    free(self->topic_offsets);
    free(self->partitions);
    free(self->offsets);
    free(self->timestamps);
    free(self->timestamp_types);
    free(self->key_offsets);
    free(self->value_offsets);
    free(self->header_offsets);
    free(self->header_key_offsets);
    free(self->header_value_offsets);
    free(self->timestamp_validity);
    free(self->key_validity);
    free(self->value_validity);
    free(self->header_value_validity);
    free(self->topics.data);
    free(self->keys.data);
    free(self->values.data);
    free(self->header_keys.data);
    free(self->header_values.data);
    free(self);
}

static alk_columns *alk_new(int fields, int64_t rows) {
    alk_columns *self = (alk_columns *)calloc(1, sizeof(alk_columns));
    if (self == NULL)
        return NULL;
    self->references = 1;
    self->fields = fields;
    if (alk_grow_rows(self, rows) || alk_reserve_headers(self, 1) ||
        alk_reserve_bytes(&self->topics, 1) || alk_reserve_bytes(&self->keys, 1) ||
        alk_reserve_bytes(&self->values, 1) || alk_reserve_bytes(&self->header_keys, 1) ||
        alk_reserve_bytes(&self->header_values, 1)) {
        alk_drop(self);
        return NULL;
    }
    self->topic_offsets[0] = self->key_offsets[0] = self->value_offsets[0] = 0;
    self->header_offsets[0] = 0;
    self->header_key_offsets[0] = self->header_value_offsets[0] = 0;
    return self;
}

/* Free the unused end of a buffer, if it is large enough to be worth a call. */
static void alk_trim(alk_bytes *self) {
    if (self->capacity > 65536 && self->capacity / 2 > self->size &&
        !alk_resize(&self->data, self->size))
        self->capacity = self->size;
}

/* Append the topic and partition of rows whose other fields are written already. */
static int alk_append_rows(alk_columns *self, int64_t count, const char *topic, int64_t topic_size,
                           int32_t partition, int32_t timestamp_type) {
    int64_t row = self->rows, end = row + count;
    if (self->fields & ALK_TOPIC) {
        int64_t size = self->topics.size, total = count * topic_size, done = topic_size;
        char *names;
        if (alk_reserve_bytes(&self->topics, size + total))
            return -1;
        names = self->topics.data + size;
        memcpy(names, topic, (size_t)topic_size);
        for (; done < total; done *= 2)  /* each copy doubles the filled part */
            memcpy(names + done, names, (size_t)(done < total - done ? done : total - done));
        for (int64_t at = row; at < end; at++)
            self->topic_offsets[at + 1] = (int32_t)(size + (at - row + 1) * topic_size);
        self->topics.size = size + total;
    }
    for (int64_t at = row; at < end; at++)
        self->partitions[at] = partition;
    for (int64_t at = row; at < end; at++)
        self->timestamp_types[at] = timestamp_type;
    self->rows = end;
    return 0;
}

/* The schema… */

static void alk_release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    free(schema->children);
    schema->release = NULL;
}

static int alk_init_schema(struct ArrowSchema *out, const char *format, const char *name,
                           int64_t flags, int64_t n_children) {
    struct ArrowSchema *children;
    memset(out, 0, sizeof(*out));
    children = (struct ArrowSchema *)calloc(n_children ? (size_t)n_children : 1, sizeof(*children));
    out->children =
        (struct ArrowSchema **)calloc(n_children ? (size_t)n_children : 1, sizeof(children));
    if (children == NULL || out->children == NULL) {
        free(children);
        free(out->children);
        return -1;
    }
    for (int64_t i = 0; i < n_children; i++)
        out->children[i] = &children[i];
    out->format = format;
    out->name = name;
    out->flags = flags;
    out->n_children = n_children;
    out->private_data = children;
    out->release = alk_release_schema;
    return 0;
}

static int alk_count_fields(int fields) {
    int count = 0;
    for (; fields; fields &= fields - 1)
        count++;
    return count;
}

static int alk_init_headers_schema(struct ArrowSchema *out) {
    struct ArrowSchema *entry;
    if (alk_init_schema(out, "+l", "headers", ARROW_FLAG_NULLABLE, 1))
        return -1;
    entry = out->children[0];
    return alk_init_schema(entry, "+s", "item", ARROW_FLAG_NULLABLE, 2) ||
                   alk_init_schema(entry->children[0], "u", "key", 0, 0) ||
                   alk_init_schema(entry->children[1], "z", "value", ARROW_FLAG_NULLABLE, 0)
               ? -1
               : 0;
}

static int alk_export_schema(int fields, struct ArrowSchema *out) {
    static const struct {
        int field;
        const char *format;
        const char *name;
    } plain[] = {{ALK_TOPIC, "u", "topic"},
                 {ALK_PARTITION, "i", "partition"},
                 {ALK_OFFSET, "l", "offset"},
                 {ALK_TIMESTAMP, "tsm:UTC", "timestamp"},
                 {ALK_TIMESTAMP_TYPE, "i", "timestamp_type"},
                 {ALK_KEY, "z", "key"},
                 {ALK_VALUE, "z", "value"}};
    int64_t child = 0;
    int failed;
    if (alk_init_schema(out, "+s", "", 0, alk_count_fields(fields)))
        return -1;
    failed = 0;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]) && !failed; i++)
        if (fields & plain[i].field)
            failed = alk_init_schema(out->children[child++], plain[i].format, plain[i].name,
                                     ARROW_FLAG_NULLABLE, 0);
    if (!failed && fields & ALK_HEADERS)
        failed = alk_init_headers_schema(out->children[child++]);
    if (failed)
        out->release(out);
    return failed ? -1 : 0;
}

/* The arrays… */

typedef struct {
    alk_columns *columns;
    struct ArrowArray *children;
    const void *buffers[3];
} alk_node;

static void alk_release_array(struct ArrowArray *array) {
    alk_node *node = (alk_node *)array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    free(node->children);
    free(array->children);
    alk_drop(node->columns);
    free(node);
    array->release = NULL;
}

static int alk_init_array(struct ArrowArray *out, alk_columns *columns, int64_t length,
                          int64_t n_children) {
    size_t children = n_children ? (size_t)n_children : 1;
    alk_node *node = (alk_node *)calloc(1, sizeof(*node));
    memset(out, 0, sizeof(*out));
    out->children = (struct ArrowArray **)calloc(children, sizeof(*out->children));
    if (node != NULL)
        node->children = (struct ArrowArray *)calloc(children, sizeof(*node->children));
    if (node == NULL || node->children == NULL || out->children == NULL) {
        if (node != NULL)
            free(node->children);
        free(node);
        free(out->children);
        return -1;
    }
    for (int64_t i = 0; i < n_children; i++)
        out->children[i] = &node->children[i];
    ALK_ADD(&columns->references, 1);
    node->columns = columns;
    out->length = length;
    out->n_children = n_children;
    out->n_buffers = 1;
    out->buffers = node->buffers;
    out->private_data = node;
    out->release = alk_release_array;
    return 0;
}

static int alk_init_fixed(struct ArrowArray *out, alk_columns *columns, const uint8_t *validity,
                          int64_t nulls, const void *data) {
    if (alk_init_array(out, columns, columns->rows, 0))
        return -1;
    out->n_buffers = 2;
    out->null_count = nulls;
    out->buffers[0] = nulls ? validity : NULL;
    out->buffers[1] = data;
    return 0;
}

static int alk_init_binary(struct ArrowArray *out, alk_columns *columns, int64_t length,
                           const uint8_t *validity, int64_t nulls, const int32_t *offsets,
                           const alk_bytes *data) {
    if (alk_init_array(out, columns, length, 0))
        return -1;
    out->n_buffers = 3;
    out->null_count = nulls;
    out->buffers[0] = nulls ? validity : NULL;
    out->buffers[1] = offsets;
    out->buffers[2] = data->data;
    return 0;
}

static int alk_init_headers(struct ArrowArray *out, alk_columns *self) {
    struct ArrowArray *entries;
    if (alk_init_array(out, self, self->rows, 1))
        return -1;
    out->n_buffers = 2;
    out->buffers[1] = self->header_offsets;
    entries = out->children[0];
    return alk_init_array(entries, self, self->headers, 2) ||
                   alk_init_binary(entries->children[0], self, self->headers, NULL, 0,
                                   self->header_key_offsets, &self->header_keys) ||
                   alk_init_binary(entries->children[1], self, self->headers,
                                   self->header_value_validity, self->header_value_nulls,
                                   self->header_value_offsets, &self->header_values)
               ? -1
               : 0;
}

/* After an array was exported, nothing is appended any more. */
static int alk_export_array(alk_columns *self, struct ArrowArray *out) {
    int64_t next = 0;
    int fields = self->fields, failed;
    if (alk_init_array(out, self, self->rows, alk_count_fields(fields)))
        return -1;
    failed =
        (fields & ALK_TOPIC && alk_init_binary(out->children[next++], self, self->rows, NULL, 0,
                                               self->topic_offsets, &self->topics)) ||
        (fields & ALK_PARTITION &&
         alk_init_fixed(out->children[next++], self, NULL, 0, self->partitions)) ||
        (fields & ALK_OFFSET &&
         alk_init_fixed(out->children[next++], self, NULL, 0, self->offsets)) ||
        (fields & ALK_TIMESTAMP &&
         alk_init_fixed(out->children[next++], self, self->timestamp_validity,
                        self->timestamp_nulls, self->timestamps)) ||
        (fields & ALK_TIMESTAMP_TYPE &&
         alk_init_fixed(out->children[next++], self, NULL, 0, self->timestamp_types)) ||
        (fields & ALK_KEY &&
         alk_init_binary(out->children[next++], self, self->rows, self->key_validity,
                         self->key_nulls, self->key_offsets, &self->keys)) ||
        (fields & ALK_VALUE &&
         alk_init_binary(out->children[next++], self, self->rows, self->value_validity,
                         self->value_nulls, self->value_offsets, &self->values)) ||
        (fields & ALK_HEADERS && alk_init_headers(out->children[next++], self));
    if (failed)
        out->release(out);
    return failed ? -1 : 0;
}

/* A stream of one array… */

typedef struct {
    alk_columns *columns;
    int is_over;
} alk_stream;

static int alk_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    alk_stream *self = (alk_stream *)stream->private_data;
    return alk_export_schema(self->columns->fields, out) ? ENOMEM : 0;
}

static int alk_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    alk_stream *self = (alk_stream *)stream->private_data;
    if (self->is_over) {
        memset(out, 0, sizeof(*out));
        return 0;
    }
    if (alk_export_array(self->columns, out))
        return ENOMEM;
    self->is_over = 1;
    return 0;
}

static const char *alk_stream_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "out of memory";
}

static void alk_release_stream(struct ArrowArrayStream *stream) {
    alk_stream *self = (alk_stream *)stream->private_data;
    alk_drop(self->columns);
    free(self);
    stream->release = NULL;
}

static int alk_export_stream(alk_columns *columns, struct ArrowArrayStream *out) {
    alk_stream *self = (alk_stream *)calloc(1, sizeof(*self));
    if (self == NULL)
        return -1;
    ALK_ADD(&columns->references, 1);
    self->columns = columns;
    out->get_schema = alk_stream_schema;
    out->get_next = alk_stream_next;
    out->get_last_error = alk_stream_error;
    out->release = alk_release_stream;
    out->private_data = self;
    return 0;
}

#endif
