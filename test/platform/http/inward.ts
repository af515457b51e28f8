/** Addresses that lead to this machine or its network, or that are no public https for another reason. */
export const inward: readonly string[] = [
  // Other protocols, ports and passwords.
  ...[
    'http://example.com/',
    'ftp://example.com/',
    'https://example.com:22/',
    'https://example.com:444/',
  ],
  ...['https://user:secret@example.com/', 'https://user@example.com/', 'https://:x@example.com/'],
  ...['file:///etc/passwd', 'gopher://example.com/', 'ws://example.com/', 'data:text/plain,x'],
  // Loopback: decimal, octal, hexadecimal, short and mixed.
  ...['https://127.0.0.1/', 'https://127.1/', 'https://127.0.1/', 'https://127.255.255.254/'],
  ...['https://2130706433/', 'https://0x7f000001/', 'https://0x7F.0x0.0x0.0x1/', 'https://0x7f.1/'],
  ...[
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://0177.0x0.0.1/',
    'https://127.0.0.1./',
  ],
  ...['https://0/', 'https://0.0.0.0/', 'https://127.0.0.1:443/', 'https://127.0.0.1:8443/'],
  // The same with other digits and dots, and escaped.
  ...[
    'https://127。0。0。1/',
    'https://127．0．0．1/',
    'https://127｡0｡0｡1/',
    'https://１２７.0.0.1/',
  ],
  ...['https://①②⑦.0.0.1/', 'https://%31%32%37.0.0.1/', 'https://127%2e0%2e0%2e1/'],
  // Before a host that looks public.
  ...[
    'https://example.com@127.0.0.1/',
    'https://127.0.0.1\\@example.com/',
    'https://127.0.0.1#@example.com/',
  ],
  // Private, shared, link-local, metadata, multicast, reserved.
  ...['https://10.0.0.1/', 'https://167772161/', 'https://172.16.3.4/', 'https://172.31.255.255/'],
  ...[
    'https://192.168.1.1/',
    'https://0xc0a80101/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/',
  ],
  ...['https://2852039166/', 'https://0xa9fea9fe/', 'https://192.0.2.1/', 'https://198.18.0.1/'],
  ...['https://224.0.0.1/', 'https://240.0.0.1/', 'https://255.255.255.255/'],
  // IPv6: its own, and IPv4 inside it.
  ...['https://[::]/', 'https://[::1]/', 'https://[0:0:0:0:0:0:0:1]/', 'https://[::127.0.0.1]/'],
  ...['https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/', 'https://[::ffff:a9fe:a9fe]/'],
  ...['https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/', 'https://[fd00:ec2::254]/'],
  ...['https://[fe80::1]/', 'https://[fc00::1]/', 'https://[ff02::1]/', 'https://[100::1]/'],
  ...[
    'https://[fec0::1]/',
    'https://[::a9fe:a9fe]/',
    'https://[2001:db8::1]/',
    'https://[2001::1]/',
  ],
]
