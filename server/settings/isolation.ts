import { isAbsolute, resolve } from 'node:path'
import {
  type IdRange,
  type IsolationSetting,
  isolationChoices,
} from '../../executor/node/isolation.ts'
import { defaultProcesses } from '../../executor/node/run-limits.ts'
import {
  BadSetting,
  list,
  type Reader,
  type Settings,
  whole,
  word,
} from '../../platform/settings.ts'

export type IsolationConfig = {
  /** Where the Python environments of recipes are built and kept; null: in the data directory. */
  localEnvironments: string | null
  localIsolation: IsolationSetting
  /** User ids for runs, one each, if the server runs as root. */
  localIds: IdRange
  /** Additional folders of this machine that isolated runs may read or write. */
  localReadable: readonly string[]
  localWritable: readonly string[]
  /** How many processes and threads one isolated run may have. */
  localProcesses: number
  /** In bytes; null: all memory of the machine but a part for the server. */
  localMemory: number | null
}

/** A smaller range is probably a mistake. */
const fewestIds = 16

/** Default: above the ids of people, services and containers. */
const idRange: Reader<IdRange> = (value, name) => {
  const [, low = '', high = ''] =
    /^(\d{1,10})-(\d{1,10})$/.exec(value || '1900000000-1900065535') ?? []
  const [first, last] = [Number(low), Number(high)]
  if (first < 1000 || last >= 2 ** 32 - 2 || last - first + 1 < fewestIds)
    throw new BadSetting(
      `${name}=${value}: a range of at least ${fewestIds} ids such as 1900000000-1900065535 is expected`,
    )
  return { first, count: last - first + 1 }
}

const folders: Reader<readonly string[]> = (value, name) => {
  const named = list(value, name)
  const relative = named.find(folder => !isAbsolute(folder))
  if (relative !== undefined) throw new BadSetting(`${name}: ${relative} is not an absolute path`)
  return named.map(folder => resolve(folder))
}

const folder: Reader<string | null> = (value, name) => {
  if (!value) return null
  if (!isAbsolute(value)) throw new BadSetting(`${name}: ${value} is not an absolute path`)
  return resolve(value)
}

const gigabytes: Reader<number | null> = (value, name) =>
  value ? whole(1, 1, 65_536)(value, name) * 1024 ** 3 : null

export const isolationSettings: Settings<IsolationConfig> = {
  localEnvironments: ['SERVICE_LOCAL_ENVIRONMENTS', folder],
  localIsolation: ['SERVICE_LOCAL_ISOLATION', word('auto', ...isolationChoices)],
  localIds: ['SERVICE_LOCAL_USER_IDS', idRange],
  localReadable: ['SERVICE_LOCAL_READABLE', folders],
  localWritable: ['SERVICE_LOCAL_WRITABLE', folders],
  localProcesses: ['SERVICE_LOCAL_MAX_PROCESSES', whole(defaultProcesses, 64, 4_194_304)],
  localMemory: ['SERVICE_LOCAL_MAX_MEMORY_GB', gigabytes],
}
