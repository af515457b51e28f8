import { BadConfig } from '../../platform/settings.ts'
import { readConfig } from '../../server/settings/config.ts'

/** The faults of settings; empty if there are none. */
export function configFaults(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof BadConfig) return error.faults
    throw error
  }
}
