// Package quic carries links to other machines over QUIC. A Dialer, a ports.LinkDialer, is a broker's side: it is let in by
// a token that comes over the user's ssh, and comes back by its key, without ssh, from any address. A Proxy is the other
// side: it lets brokers in and gives each as a ports.BrokerConn to the service of its machine. Neither knows which transport
// a host is reached by, what a stream carries, or how ssh is run (docs/protocol.md, Over QUIC).
//
// # Route of the data
//
// A connection's first stream, opened by the dialing side, is the control stream: it carries the broker conversation of
// brokeripc, whole (carriage.go). Each logical stream is a QUIC stream of its own, with QUIC's flow control: it begins with
// one frame each way (head.go), the rest are its bytes (stream.go). So a packet that is lost delays the streams that had
// something in it and no other. On a connection that loses packets small writes are said again in datagrams (repeat.go,
// repeats.go), and a stream goes on with whichever comes first (arrivals.go). Bulk leaves room for the small writes of other
// streams: in the library's queue, not in what is under way (room.go).
//
// # Who is let in
//
// Both sides have a key of their own that lives as long as their process, and a certificate for it that nobody signed. The
// proxy's is pinned by its hash. The dialing side's is known by its key, once a record with the token came on the control
// stream before all else (admission.go, admit.go); for a key that is not known the handshake fails, unless a token is
// good at that time. Nothing is resumed and nothing sent before the handshake is over.
//
// # Coming back
//
// Every attempt has a socket of its own, bound to no address, and tries all addresses of the host (race.go). A connection
// follows its machine's address by itself, since its packets leave from whatever the machine has; one leaves when the network
// changes (network.go). Where a new one is made
// beside a silent one, the first that hears the proxy is used, and takes the place of the older ones with its first stream,
// at both ends (leases.go, peer.go): what waits on those goes on over the new one at once.
//
// # Goroutines
//
//	race.go    one for each address that is dialed and one that resolves; race joins them
//	peer.go    one per link that came back, until its conversation has begun; the link's Close joins it
//	network.go one while there are links, which reads of changes of the network; the last link's Close joins it
//	proxy.go   accepting, joined by Run; one per connection, joined by Close
//	admit.go   a watch for a second stream before the token; joined by stranger
//	repeats.go one per connection that hears repeats, one while some wait to be sent; the Close of its link, or of its
//	           conversation, joins them
//	served.go  two per connection that take requests, one per request until it is handed on; joined by its Close
//
// The QUIC library has more of its own.
package quic
