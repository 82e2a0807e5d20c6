/**
 * IP protocol numbers (IANA) as scripts name them. nft resolves `tcp` through the host's protocol
 * database, which slim hosts and containers lack; numbers need none.
 */
export const L4 = { tcp: 6, udp: 17, icmp: 1, "ipv6-icmp": 58 } as const;
