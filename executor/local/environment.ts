import { markVariable } from './processes.ts'

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

/** A run's environment: the host's part, overridden by the launch's, overridden by GPU binding and mark. */
export function runEnvironment(
  host: Record<string, string>,
  launch: { env: Record<string, string>; gpu_indexes: number[] },
  place: { tmp: string; mark: string },
): Record<string, string> {
  return {
    ...host,
    TMPDIR: place.tmp,
    ...launch.env,
    // Same order as nvidia-smi; by default CUDA puts the fastest device first.
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: launch.gpu_indexes.join(','),
    [markVariable]: place.mark,
  }
}
