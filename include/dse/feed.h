/* Streams at event level: data read ahead of whoever consumes it, and consumption at a constant pace.
 *
 * A feed is a DMA engine with a buffer of its own. It reads streams one after another through a DRAM port, in requests of
 * `chunk_bytes`, as far ahead as the buffer has room, also into streams that its consumer has not come to yet. The consumer sees
 * the bytes of its stream arrive in order, gives them back as it uses them, and goes on to the next stream when it is through
 * with one.
 *
 * A pour is a feed of one stream and a consumer that takes the same time for every byte: weights through an array. A stream far
 * longer than what it takes to see its pace need not be simulated to the end (`sample_bytes`).
 */
#ifndef DSE_FEED_H
#define DSE_FEED_H

#include <dse/dram_port.h>

struct dse_feed;

struct dse_feed_stream {
    uint64_t bytes;    /* of the whole stream, more than 0 */
    uint64_t address;  /* of a contiguous stream */
    const char *label; /* string constant: its kind of traffic */
    /* For a stream that consists of pieces at various addresses: the bytes of each piece (the last one may be shorter), and a
     * function for the address of the i-th. 0 and NULL for a contiguous stream. */
    uint64_t access_bytes;
    uint64_t (*place)(void *object, uint64_t stream, uint64_t access);
    bool scattered; /* under DSE_IDEAL_DRAM the pieces count as accesses at random places, not as parts of a long stream */
};

struct dse_feed_spec {
    struct dse_dram_port *port;
    /* The most bytes that may be in flight or wait for the consumer; never less than one chunk. Under DSE_IDEAL_FIFOS the caller
     * makes it as large as it needs. */
    uint64_t window_bytes;
    uint64_t flight_bytes; /* the most bytes that were asked for and have not arrived; never less than one chunk */
    uint64_t chunk_bytes;  /* the size of a request, more than 0; a multiple of access_bytes for streams that have those */
    /* Describes stream number `index`, counted from 0. It is called once for each, in order, and returns false when there are no
     * more. */
    bool (*stream)(void *object, uint64_t index, struct dse_feed_stream *ret);
    void *object; /* is passed to stream() and place() */
};

/* Twice what the controllers of so many channels queue: a feed that has this in flight keeps them busy, and does not crowd out
 * others. */
uint64_t dse_feed_flight(const struct dse_dram *dram, uint64_t channels);

/* Make a feed, which starts to read at once, by events from now on. The spec is copied. */
struct dse_feed *dse_feed_new(struct dse_sim *sim, const struct dse_feed_spec *spec);
/* How many bytes of the consumer's stream have arrived, counted from its beginning without a gap. Those given back count. */
uint64_t dse_feed_arrived(const struct dse_feed *f);
/* Bytes, of all streams, that have arrived and wait for the consumer. */
uint64_t dse_feed_waiting(const struct dse_feed *f);
/* Give back the first `bytes` of the consumer's stream, which are not needed any more. They must have arrived. */
void dse_feed_give_back(struct dse_feed *f, uint64_t bytes);
/* Go on to the next stream. All of the present one must have arrived. */
void dse_feed_next(struct dse_feed *f);
/* Call the actor once, as an event of the time when bytes of any stream arrive next. */
void dse_feed_when(struct dse_feed *f, uint32_t actor, uint32_t arg);

struct dse_pour;

struct dse_pour_spec {
    struct dse_dram_port *port;
    const char *label; /* string constant: kind of traffic */
    uint64_t address;  /* of as many bytes as are simulated */
    uint64_t bytes;    /* of the stream, more than 0 */
    double work_s;     /* the consumer's time for all of it when it never waits */
    /* The consumer's other input, of which the share x has arrived hold_s + x gate_s after the start. */
    double hold_s, gate_s;
    uint64_t window_bytes, flight_bytes,
        chunk_bytes;           /* as in struct dse_feed_spec; under DSE_IDEAL_FIFOS the window is the sample */
    uint64_t sample_bytes;     /* bytes simulated, at most; 0: all. The rest goes on at the pace of the sample */
    double period_s;           /* the pace is measured over whole multiples of it (the refresh interval); 0: over what there is */
    double pace_s;             /* known seconds a byte; 0: measured */
    uint32_t resource;         /* the consumer's, for the timeline */
    const char *work;          /* string constant: its label */
    int64_t id;                /* beside it; -1: none */
    uint32_t actor, actor_arg; /* called when the last byte that is simulated has been consumed */
};

/* Make a pour, which starts at once. */
struct dse_pour *dse_pour_new(struct dse_sim *sim, const struct dse_pour_spec *spec);

/* Times of the whole stream, including what was not simulated. */
struct dse_poured {
    double time_s;  /* from the start to the end of the consumer's work: work_s, and the waits */
    double data_s;  /* of it, the consumer waited for the stream */
    double other_s; /* of it, for its other input, with data there */
    double pace_s;  /* seconds a byte in the steady state; 0 when all of the stream was simulated and its pace not known */
    /* Of the time, what was not simulated; what its pace was measured over (0: it was known); and the pace's standard error over
     * itself (dse_pace_error). */
    double rest_s, measured_s, error;
};
/* The times, after the actor has been called. */
struct dse_poured dse_pour_result(const struct dse_pour *p);

#endif
