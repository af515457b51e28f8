import { realpath, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Sockets of container runtimes and services that run any program for a client that may connect. */
const ofTheMachine = [
  ...['docker.sock', 'containerd/containerd.sock', 'crio/crio.sock', 'podman/podman.sock'],
  ...['buildkit/buildkitd.sock', 'libvirt/libvirt-sock', 'snapd.socket', 'systemd/private'],
].map(name => `/run/${name}`)
const elsewhere = ['/var/lib/lxd', '/var/snap/lxd/common/lxd', '/var/lib/incus'].map(
  folder => `${folder}/unix.socket`,
)

const ofTheUser = ['bus', 'systemd/private', 'docker.sock', 'podman/podman.sock', 'containerd.sock']

/**
 * The sockets of this machine through which the server's user could have programs run outside an isolation. Excludes the
 * system bus, which every user may reach and which checks its callers.
 */
export async function controlSockets(env: NodeJS.ProcessEnv, uid: number): Promise<string[]> {
  const own = [env.XDG_RUNTIME_DIR ?? '', `/run/user/${uid}`].filter(path.isAbsolute)
  const named = [env.DOCKER_HOST, env.CONTAINER_HOST, env.DBUS_SESSION_BUS_ADDRESS].map(address =>
    /^unix:(?:path=|\/\/)(\/[^,;]*)/.exec(address ?? ''),
  )
  const candidates = [
    ...ofTheMachine,
    ...elsewhere,
    ...own.flatMap(folder => ofTheUser.map(name => path.join(folder, name))),
    ...named.map(found => found?.[1] ?? ''),
    ...[
      env.SSH_AUTH_SOCK ?? '',
      env.TMUX?.split(',')[0] ?? '',
      path.join(tmpdir(), `tmux-${uid}`, 'default'),
    ],
  ]
  const found = await Promise.all(candidates.filter(path.isAbsolute).map(socketAt))
  return [...new Set(found.filter(one => one !== null))]
}

async function socketAt(named: string): Promise<string | null> {
  try {
    const real = await realpath(named)
    return (await stat(real)).isSocket() ? real : null
  } catch {
    return null
  }
}
