/* One gather write: hands bytes that lie in several places to a socket. */

#ifndef AIOKAFKA_LITE_GATHER_WRITE_H
#define AIOKAFKA_LITE_GATHER_WRITE_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#if defined(_WIN32)
/* The callers never ask for it there: the loop sends all frames. */
typedef struct {
    void *iov_base;
    size_t iov_len;
} alk_place;

static inline ptrdiff_t alk_send_places(int fd, alk_place *places, size_t count)
{
    (void)fd, (void)places, (void)count;
    errno = ENOSYS;
    return -1;
}
#else
#include <sys/socket.h>
#include <sys/uio.h>
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* Python ignores the signal */
#endif
typedef struct iovec alk_place;

/* Return how many bytes the system took; -1: none, and `errno` says why. */
static inline ptrdiff_t alk_send_places(int fd, alk_place *places, size_t count)
{
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = places;
    message.msg_iovlen = count;
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}
#endif

#endif
