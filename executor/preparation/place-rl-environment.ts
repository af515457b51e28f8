import { mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { recipeDigest } from '../../recipes/digest.ts'
import { environmentArchive } from '../../recipes/rl-environment.ts'
import { unpackFolder } from '../../recipes/unpack-folder.ts'
import { archiveName } from '../../schemas/rl-environments/rl-environments.ts'
import type { EnvironmentToPlace } from '../port.ts'
import type { FetchOptions } from './fetch-stored.ts'
import { placeFiles } from './place-dataset.ts'

const environmentFiles = { path: 'environments/content', ref: 'environment_ref' } as const
/** Nobody writes to the files that several runs share. */
const modes = { file: 0o444, program: 0o555, folder: 0o755 }

/** Returns the folder of an RL environment once its files are on this machine, unpacked and checked by their digest. */
export const placeEnvironment = (
  environment: EnvironmentToPlace,
  options: { directory: string; now: () => Date } & FetchOptions,
): Promise<string> =>
  placeFiles(environment, {
    ...{ from: environmentFiles, ...options },
    arrange: data => unpackIn(data, environment),
  })

/** The archive makes way for its contents. */
async function unpackIn(
  data: string,
  { ref, digest }: Pick<EnvironmentToPlace, 'ref' | 'digest'>,
): Promise<void> {
  const fresh = `${data}.unpacked`
  await mkdir(fresh)
  const root = await unpackFolder(path.join(data, archiveName), fresh, {
    ...environmentArchive,
    modes,
  })
  const found = await recipeDigest(root)
  if (found !== digest)
    throw new Error(`the files of ${ref} have the digest ${found}, not ${digest} as admitted`)
  await rm(data, { recursive: true })
  await rename(root, data)
  await rm(fresh, { recursive: true, force: true })
}
