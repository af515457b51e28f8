import { spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { whatHolds } from './what-holds.ts'

export const isRoot = process.getuid?.() === 0
/** `nobody`, in every distribution; PostgreSQL wants a user with a name. */
export const ordinary = 65_534

export type User = 'root' | 'ordinary'
export type Isolated = { title: string; setting: string; as: User }

/** The isolations to try here, each with the user that the server runs as. */
export function isolations(holds: Awaited<ReturnType<typeof whatHolds>>): Isolated[] {
  const { bubblewrap, landlock } = holds
  const asRoot: [boolean, string, string][] = [
    [bubblewrap === null, 'root with bubblewrap', 'bubblewrap'],
    [true, 'root without bubblewrap', 'user'],
    [landlock === null, 'root with Landlock', 'landlock'],
  ]
  const asOrdinary: [boolean, string, string][] = [
    [bubblewrap === null, 'an ordinary user with bubblewrap', 'bubblewrap'],
    [landlock === null, 'an ordinary user with Landlock', 'landlock'],
  ]
  const listed = (as: User, rows: [boolean, string, string][]) =>
    rows.filter(([holds]) => holds).map(([, title, setting]) => ({ title, setting, as }))
  return [...(isRoot ? listed('root', asRoot) : []), ...listed('ordinary', asOrdinary)]
}

/** Plays a scene as this user, or as an ordinary one where this is root; returns its output. */
export async function playScene(
  t: ExecutionContext,
  scene: URL,
  { setting, as }: Pick<Isolated, 'setting' | 'as'>,
): Promise<string> {
  const user = as === 'ordinary' && isRoot ? { uid: ordinary, gid: ordinary } : {}
  const folder = await mkdtemp('/tmp/forge-scene-')
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  await chmod(folder, 0o755)
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid)
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fileURLToPath(scene), setting, folder],
    {
      ...user,
      cwd: '/',
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        SERVICE_DATABASE_URL: 'postgres://forge:swordfish@db/forge',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (said === '') throw new Error(complained)
  return said
}
