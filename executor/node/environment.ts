import { markVariable } from './processes.ts'
import { rankVariables } from './ranks.ts'

/** Host settings for package downloads: proxies, certificates, the package index. */
const fetching = /^(PIP_|UV_|(https?|ftp|all|no)_proxy$|SSL_CERT_|REQUESTS_CA_BUNDLE$)/i

/** The part of the server's environment that runs may see: none of the service's settings. */
export function hostEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const { PATH, HOME, LANG } = env
  const kept = Object.entries(env).filter(([name]) => fetching.test(name))
  return {
    PATH: PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: HOME ?? '/',
    LANG: LANG ?? 'C.UTF-8',
    ...Object.fromEntries(kept.map(([name, value]) => [name, value ?? ''])),
  }
}

/** The environment without the settings of installers: an index address may carry a password. */
export function withoutInstallerSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !/^(PIP|UV)_/i.test(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']))
}

/** The surroundings of a rank: the run's mark, its own folders and home, its GPUs, and its socket. */
export type Place = {
  mark: string
  tmp: string
  home: string | null
  rank: number
  gpus: readonly number[]
  /** The name of the rank's node; null where all ranks of this machine share memory and sockets. */
  node: string | null
  /** The path at which an engine must listen. */
  socket: string | null
}

/** A rank's environment: the host's part, overridden by the launch's, overridden by its place, GPU binding and mark. */
export function runEnvironment(
  host: Record<string, string>,
  { env, nodes }: { env: Record<string, string>; nodes: number },
  { mark, tmp, home, rank, gpus, node, socket }: Place,
): Record<string, string> {
  return {
    ...withoutInstallerSettings(host),
    // Its user may have neither a name nor a home.
    ...(home !== null && { HOME: home, USER: 'forge', LOGNAME: 'forge' }),
    TMPDIR: tmp,
    // Otherwise NCCL sees ranks on one machine, and fails to connect them through abstract sockets.
    ...(nodes > 1 && node !== null && { NCCL_HOSTID: node }),
    ...env,
    ...rankVariables(rank, nodes),
    // Same order as nvidia-smi; by default CUDA puts the fastest device first.
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: gpus.join(','),
    ...(socket !== null && { FORGE_SERVING_SOCKET: socket }),
    [markVariable]: mark,
  }
}

/** The preparation's environment: the host's part with the settings of installers, and the service's own variables. */
export const preparationEnvironment = (
  host: Record<string, string>,
  env: Record<string, string>,
  mark: string,
): Record<string, string> => ({ ...host, ...env, [markVariable]: mark })
