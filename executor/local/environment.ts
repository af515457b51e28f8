import { markVariable } from './processes.ts'

/** What tools that fetch packages are told by the host: proxies, certificates, the package index. */
const fetching = /^(PIP_|UV_|(https?|ftp|all|no)_proxy$|SSL_CERT_|REQUESTS_CA_BUNDLE$)/i

/** The part of the server's own environment that its runs may see. Nothing of the service's settings is in it. */
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

/** What a run is given: the host's part, the launch's own on top, then what binds it to its GPUs and its mark. */
export function runEnvironment(
  host: Record<string, string>,
  launch: { env: Record<string, string>; gpuIndexes: number[] },
  place: { tmp: string; mark: string },
): Record<string, string> {
  return {
    ...host,
    TMPDIR: place.tmp,
    ...launch.env,
    // The order of nvidia-smi; the default puts the fastest first, so that indexes would mean other devices.
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: launch.gpuIndexes.join(','),
    [markVariable]: place.mark,
  }
}
