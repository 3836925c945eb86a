/*
 * Announces as fast as a tracker answers, for benchmarks. One thread, one epoll.
 *
 *   load udp|keep|each|fill PORT HASHES PEERS SECONDS IN_FLIGHT
 *
 * udp: packets of BEP 15; fill: the same, each peer once and then the end; keep: HTTP, a connection is used again when the tracker allows it;
 * each: HTTP, a connection for each announce. Prints one line of JSON: answers, errors, seconds,
 * and the 50th and 99th percentile of the time from request to answer in microseconds.
 *
 * The n-th hash is made from n, so that a program that needs the hashes in advance can make them too.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SLOTS_MAX 1024
#define BUFFER 16384
#define BUCKETS 200000 /* of 5 microseconds: one second */
#define LOST_NS 500000000ull

static uint64_t random_state = 88172645463325252ull;
static uint32_t latencies[BUCKETS];
static uint64_t answers, errors;
static struct sockaddr_in tracker;
static uint32_t hashes, peers, in_flight;
static int is_filling;

struct slot {
  int fd;
  uint64_t sent_at;
  uint32_t transaction;
  uint32_t filled_peers;
  uint8_t connection_id[8];
  int is_connected; /* has a connection id (udp), or an open connection (http) */
  int filled;
  int is_done; /* answered, and to be closed by the tracker */
  char buffer[BUFFER];
};
static struct slot slots[SLOTS_MAX];

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* 20 bytes from a number: each 4 bytes are the number times an odd constant, mixed. */
static void bytes_of(uint32_t n, uint32_t salt, uint8_t out[20]) {
  for (uint32_t i = 0; i < 5; i++) {
    uint32_t x = (n + 1) * 2654435761u + (i + salt) * 2246822519u;
    x ^= x >> 15;
    x *= 3266489917u;
    x ^= x >> 13;
    out[4 * i] = x >> 24;
    out[4 * i + 1] = x >> 16;
    out[4 * i + 2] = x >> 8;
    out[4 * i + 3] = x;
  }
}

static void note(struct slot *slot) {
  uint64_t bucket = (now_ns() - slot->sent_at) / 5000;
  latencies[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
  answers++;
}

/*
 * Each slot has an address of its own on the loopback, so that ports that linger are no limit, and
 * peers of its own, so that a peer stays where it is as peers do.
 */
static void bind_at(int fd, uint32_t index) {
  int on = 1;
  struct sockaddr_in from = {.sin_family = AF_INET};
  from.sin_addr.s_addr = htonl(0x7f000002u + index);
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  bind(fd, (struct sockaddr *)&from, sizeof from);
}

static uint32_t peer_of(struct slot *slot) {
  uint32_t of_slot = peers / in_flight;
  uint32_t n = is_filling ? slot->filled_peers++ : next_random();
  return n % of_slot * in_flight + (slot - slots);
}

/* A peer is its address and port, so no two peers of a hash may share both. */
static uint32_t port_of(uint32_t peer) { return 1025 + peer % 60013; }

static void put32(uint8_t *at, uint32_t value) {
  value = htonl(value);
  memcpy(at, &value, 4);
}

static void udp_send(struct slot *slot) {
  uint8_t packet[98] = {0};
  size_t length = 98;
  slot->transaction = next_random();
  put32(packet + 12, slot->transaction);
  if (!slot->is_connected) {
    put32(packet, 0x417);
    put32(packet + 4, 0x27101980);
    length = 16;
  } else {
    uint32_t peer = peer_of(slot);
    memcpy(packet, slot->connection_id, 8);
    put32(packet + 8, 1);
    bytes_of(peer % hashes, 0, packet + 16);
    bytes_of(peer, 77, packet + 36);
    put32(packet + 68, peer & 1 ? 0 : 1000);
    put32(packet + 92, 50);
    packet[96] = port_of(peer) >> 8;
    packet[97] = port_of(peer) & 255;
  }
  slot->sent_at = now_ns();
  send(slot->fd, packet, length, 0);
}

static void udp_receive(struct slot *slot) {
  uint8_t packet[2048];
  ssize_t length;
  while ((length = recv(slot->fd, packet, sizeof packet, 0)) >= 8) {
    uint32_t action, transaction;
    memcpy(&action, packet, 4);
    memcpy(&transaction, packet + 4, 4);
    if (ntohl(transaction) != slot->transaction) continue;
    if (ntohl(action) == 0 && length >= 16) {
      memcpy(slot->connection_id, packet + 8, 8);
      slot->is_connected = 1;
    } else if (ntohl(action) == 1) {
      note(slot);
    } else {
      errors++;
      slot->is_connected = 0;
    }
    udp_send(slot);
  }
}

static char *escape(char *to, const uint8_t bytes[20]) {
  static const char hex[] = "0123456789ABCDEF";
  for (int i = 0; i < 20; i++) {
    *to++ = '%';
    *to++ = hex[bytes[i] >> 4];
    *to++ = hex[bytes[i] & 15];
  }
  return to;
}

static void http_send(struct slot *slot, int is_kept) {
  char request[1024];
  uint8_t bytes[20];
  uint32_t peer = peer_of(slot);
  char *at = request + sprintf(request, "GET /announce?info_hash=");
  bytes_of(peer % hashes, 0, bytes);
  at = escape(at, bytes);
  at += sprintf(at, "&peer_id=");
  bytes_of(peer, 77, bytes);
  at = escape(at, bytes);
  at += sprintf(at,
                "&port=%u&uploaded=0&downloaded=0&left=%d&compact=1&numwant=50 HTTP/1.1\r\n"
                "Host: localhost\r\nUser-Agent: load\r\nConnection: %s\r\n\r\n",
                port_of(peer), peer & 1 ? 0 : 1000, is_kept ? "keep-alive" : "close");
  slot->filled = 0;
  if (is_kept) slot->sent_at = now_ns();
  if (send(slot->fd, request, at - request, MSG_NOSIGNAL) < 0) errors++;
}

static void http_open(struct slot *slot, int epoll, int index) {
  int on = 1;
  struct epoll_event event = {.events = EPOLLOUT, .data.u32 = index};
  slot->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(slot->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  bind_at(slot->fd, index);
  slot->is_connected = 0;
  slot->is_done = 0;
  slot->sent_at = now_ns();
  connect(slot->fd, (struct sockaddr *)&tracker, sizeof tracker);
  epoll_ctl(epoll, EPOLL_CTL_ADD, slot->fd, &event);
}

/* 1 when the answer is there as a whole. */
static int is_complete(struct slot *slot) {
  slot->buffer[slot->filled] = 0;
  char *end = strstr(slot->buffer, "\r\n\r\n");
  char *length = strcasestr(slot->buffer, "content-length:");
  if (end == NULL || length == NULL) return 0;
  return slot->filled >= end + 4 - slot->buffer + atoi(length + 15);
}

static void http_ready(struct slot *slot, int epoll, int index, int is_kept) {
  if (!slot->is_connected) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
    slot->is_connected = 1;
    epoll_ctl(epoll, EPOLL_CTL_MOD, slot->fd, &event);
    http_send(slot, is_kept);
    return;
  }
  ssize_t length = recv(slot->fd, slot->buffer + slot->filled, BUFFER - 1 - slot->filled, 0);
  if (length < 0 && errno == EAGAIN) return;
  if (length > 0) slot->filled += length;
  int is_over = length <= 0;
  if (is_complete(slot)) {
    if (strstr(slot->buffer, "failure reason")) errors++;
    else note(slot);
    slot->filled = 0;
    if (is_kept && !is_over && strcasestr(slot->buffer, "connection: close") == NULL) {
      http_send(slot, is_kept);
      return;
    }
    /* The tracker closes: who hangs up first makes it work for a reset. */
    slot->is_done = 1;
  } else if (is_over && !is_kept && !slot->is_done) {
    errors++;
  }
  if (!is_over) return;
  close(slot->fd);
  http_open(slot, epoll, index);
}

static double percentile(double share) {
  uint64_t wanted = answers * share, seen = 0;
  for (int i = 0; i < BUCKETS; i++) {
    seen += latencies[i];
    if (seen > wanted) return i * 5.0;
  }
  return BUCKETS * 5.0;
}

int main(int count, char **args) {
  if (count != 7) {
    fprintf(stderr, "load udp|keep|each|fill PORT HASHES PEERS SECONDS IN_FLIGHT\n");
    return 2;
  }
  is_filling = args[1][0] == 'f';
  int is_udp = is_filling || args[1][0] == 'u', is_kept = args[1][0] == 'k';
  in_flight = atoi(args[6]) > SLOTS_MAX ? SLOTS_MAX : atoi(args[6]);
  int epoll = epoll_create1(0);
  tracker.sin_family = AF_INET;
  tracker.sin_port = htons(atoi(args[2]));
  tracker.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  hashes = atoi(args[3]);
  peers = atoi(args[4]);
  if (peers < in_flight) peers = in_flight;
  random_state += getpid();
  for (int i = 0; i < (int)in_flight; i++) {
    if (!is_udp) {
      http_open(&slots[i], epoll, i);
      continue;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    slots[i].fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    bind_at(slots[i].fd, i);
    connect(slots[i].fd, (struct sockaddr *)&tracker, sizeof tracker);
    epoll_ctl(epoll, EPOLL_CTL_ADD, slots[i].fd, &event);
    udp_send(&slots[i]);
  }
  uint64_t start = now_ns(), end = start + atof(args[5]) * 1e9, looked = start;
  struct epoll_event events[256];
  while (now_ns() < end && (!is_filling || answers < peers)) {
    int ready = epoll_wait(epoll, events, 256, 100);
    for (int i = 0; i < ready; i++) {
      struct slot *slot = &slots[events[i].data.u32];
      if (is_udp) udp_receive(slot);
      else http_ready(slot, epoll, events[i].data.u32, is_kept);
    }
    if (now_ns() - looked < LOST_NS) continue;
    looked = now_ns();
    for (int i = 0; i < (int)in_flight; i++) {
      if (looked - slots[i].sent_at < LOST_NS) continue;
      errors++;
      if (is_udp) {
        udp_send(&slots[i]);
      } else {
        close(slots[i].fd);
        http_open(&slots[i], epoll, i);
      }
    }
  }
  double seconds = (now_ns() - start) / 1e9;
  printf("{\"answers\":%lu,\"errors\":%lu,\"seconds\":%.3f,\"p50\":%.0f,\"p99\":%.0f}\n", answers,
         errors, seconds, percentile(0.5), percentile(0.99));
  return 0;
}
