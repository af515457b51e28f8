import type { Enclosure } from '../attempts/enclosure.ts'
import type { Ground, Isolation, IsolationSetting } from './isolation.ts'
import { type TryOut, tryOut } from './isolation-trial.ts'

/**
 * The strongest isolation that holds in a trial on this machine, or the one asked for. Throws if that one does not
 * hold: a request for strong isolation must not silently get a weaker one.
 */
export async function chooseIsolation(
  asked: IsolationSetting,
  ground: Ground,
  attempt: TryOut = tryOut,
): Promise<Isolation> {
  const not: Isolation['not'] = {}
  const wanted: readonly Enclosure['mode'][] =
    asked === 'auto' ? ['bubblewrap', 'user', 'landlock'] : asked === 'none' ? [] : [asked]
  for (const mode of wanted) {
    const { fault, reached, gaps } = await attempt(mode, ground)
    if (fault === null) return { mode, not, ground, reached, gaps }
    not[mode] = fault
  }
  if (asked === 'auto' || asked === 'none')
    return { mode: 'none', not, ground, reached: [], gaps: [] }
  throw new Error(
    `SERVICE_LOCAL_ISOLATION=${asked} does not work here: ${not[asked]} (docs/operate/security.md says what each needs)`,
  )
}
