/* The copier connects to 127.0.0.1 at the port argv[1], sends what one read of stdin brings, and
   writes whatever a read of the socket brings to stdout at once, until the server closes. It stays
   until stdin ends, so that its CPU time can be read. It shows which latency and
   which CPU time this machine needs for waking one process a token. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static char buffer[65536];

static int write_all(int fd, const char *data, ssize_t length) {
	while (length > 0) {
		ssize_t written = write(fd, data, length);
		if (written <= 0)
			return -1;
		data += written;
		length -= written;
	}
	return 0;
}

int main(int argc, char **argv) {
	struct sockaddr_in address = {.sin_family = AF_INET};
	ssize_t length;
	int server;

	if (argc != 2)
		return 2;
	address.sin_port = htons((unsigned short)atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server = socket(AF_INET, SOCK_STREAM, 0);
	if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) != 0)
		return 1;
	length = read(0, buffer, sizeof buffer);
	if (length <= 0 || write_all(server, buffer, length) != 0)
		return 1;
	while ((length = read(server, buffer, sizeof buffer)) > 0)
		if (write_all(1, buffer, length) != 0)
			return 1;
	if (length < 0)
		return 1;
	while (read(0, buffer, sizeof buffer) > 0)
		;
	return 0;
}
