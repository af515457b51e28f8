import { allowedHosts } from '../../platform/http/allowed-hosts.ts'
import { BadSetting, list, type Reader, type Settings, text } from '../../platform/settings.ts'

export type OutgoingConfig = {
  /** Hosts and networks of internal services that plugins may be, besides public ones. */
  outgoingHosts: readonly string[]
  /** A file with certificates, as PEM, by which such services may be signed; null: the usual authorities. */
  outgoingCaFile: string | null
}

const hosts: Reader<readonly string[]> = (value, name) => {
  const entries = list(value, name).map(entry => entry.toLowerCase())
  try {
    allowedHosts(entries)
  } catch (error) {
    throw new BadSetting(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return entries
}

export const outgoingSettings: Settings<OutgoingConfig> = {
  outgoingHosts: ['SERVICE_OUTGOING_HOSTS', hosts],
  outgoingCaFile: ['SERVICE_OUTGOING_CA_FILE', text(null)],
}
