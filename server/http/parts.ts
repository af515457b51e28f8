import type { Passwords } from '../../auth/passwords.ts'
import type { Deps } from '../../command-api/deps.ts'
import type { ProjectionAdmin } from '../../command-api/projections/routes.ts'
import type { Isolation } from '../../executor/node/isolation.ts'
import type { AddressKey } from '../../platform/http/signed-address.ts'
import type { RateLimits } from '../../platform/rate-limits.ts'
import type { Check } from '../../platform/readiness.ts'
import type { Runner } from '../../projector/runner/runner.ts'
import type { Assets } from '../../query-api/pages/assets.ts'
import type { Core } from '../core.ts'
import type { Progress } from '../progress.ts'

/** The parts that the routes of this process use. */
export type Parts = Core & {
  deps: Deps
  passwords: Passwords
  /** Isolation of the runs in this process; null if it runs none. */
  isolation: Isolation | null
  runners: readonly Runner[]
  progress: Progress
  /** Checks the age of the newest backup; null if this process makes none. */
  backups: (() => Promise<Check>) | null
  projectionAdmin: ProjectionAdmin
  /** Signs the download addresses of artifacts. */
  downloadKey: AddressKey
  rateLimits: RateLimits
  /** The console; null if it is not built here, or not served by this process. */
  assets: Assets | null
  isDraining: () => boolean
}
