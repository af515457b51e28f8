import ipaddr from 'ipaddr.js'

/** Hosts of internal services that requests may go to, although their addresses are not public. */
export type AllowedHosts = {
  /** `host` and `host:port`, in lower case; without a port: every port. */
  hosts: ReadonlySet<string>
  /** Whether a resolved address is in one of the allowed networks. */
  hasAddress(address: string): boolean
}

export const noHosts: AllowedHosts = { hosts: new Set(), hasAddress: () => false }

/** Reads hosts, with or without a port, and networks such as `10.1.0.0/16`. Throws with the entry that is neither. */
export function allowedHosts(entries: readonly string[]): AllowedHosts {
  const networks = entries.filter(entry => entry.includes('/')).map(networkIn)
  const hosts = entries.filter(entry => !entry.includes('/')).map(hostIn)
  return {
    hosts: new Set(hosts),
    hasAddress(address) {
      if (!ipaddr.isValid(address)) return false
      const parsed = ipaddr.process(address)
      return networks.some(
        ([base, bits]) => parsed.kind() === base.kind() && parsed.match([base, bits]),
      )
    },
  }
}

function networkIn(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (!ipaddr.isValidCIDR(entry)) throw new Error(`${entry} is not a network such as 10.1.0.0/16`)
  return ipaddr.parseCIDR(entry)
}

function hostIn(entry: string): string {
  const url = URL.parse(`https://${entry}/`)
  const isHost = url !== null && url.href === `https://${url.host}/` && !/[@?#]/.test(entry)
  if (!isHost) throw new Error(`${entry} is not a host, with or without a port`)
  // The port of https is left out of what URLs print.
  return entry.endsWith(':443') ? `${url.hostname}:443` : url.host
}

export function isListed({ hosts, hasAddress }: AllowedHosts, { hostname, port }: URL): boolean {
  const withPort = `${hostname}:${port || '443'}`
  return hosts.has(hostname) || hosts.has(withPort) || hasAddress(bare(hostname))
}

/** Without the brackets of an IPv6 address. */
export const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')
