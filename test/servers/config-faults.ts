import { BadConfig } from '../../platform/settings.ts'
import { readConfig } from '../../server/config.ts'

/** What is wrong with settings; empty if nothing. */
export function configFaults(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof BadConfig) return error.faults
    throw error
  }
}
