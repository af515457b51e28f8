import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { argsFaults } from '../schemas/rl-environments/args.ts'
import {
  type EnvironmentManifest,
  environmentBounds,
  environmentManifest,
  manifestName,
} from '../schemas/rl-environments/manifest.ts'
import { checker } from '../schemas/validate.ts'
import { FaultyRecipe, isFile } from './catalogue.ts'
import { recipeDigest } from './digest.ts'
import { type FolderArchive, sharedModes } from './unpack-folder.ts'

/** The archive of an RL environment: a folder with `environment.yaml` and Python modules. */
export const environmentArchive: FolderArchive = {
  ...{ noun: 'environment', manifest: manifestName, modes: sharedModes },
  limitBytes: environmentBounds.expandedBytes,
}

export type LoadedEnvironment = EnvironmentManifest & { digest: string; requirements: string[] }

const maxManifestBytes = 64 * 1024
const maxRequirements = 200

const check = checker(environmentManifest, 'body')

/** Reads and validates the environment in a folder; the error names each fault. */
export async function loadEnvironment(directory: string): Promise<LoadedEnvironment> {
  const manifest = await readManifest(path.join(directory, manifestName))
  const faults = [
    ...argsFaults({ ...manifest.args_schema, required: [] }, manifest.args_default).map(
      fault => `${manifestName}: args_default: ${fault}`,
    ),
    ...((await hasModule(directory, manifest.entry))
      ? []
      : [`${manifestName}: entry: there is no module ${moduleOf(manifest.entry)}`]),
  ]
  if (faults.length > 0) throw faulty(faults)
  const requirements = await requirementsIn(directory)
  return { ...manifest, requirements, digest: await recipeDigest(directory) }
}

async function readManifest(file: string): Promise<EnvironmentManifest> {
  const { size } = await stat(file)
  if (size > maxManifestBytes)
    throw faulty([`${manifestName} has ${size} bytes; at most ${maxManifestBytes} are allowed`])
  const checked = check(parsed(await readFile(file, 'utf8')))
  if (checked.ok) return checked.value
  throw faulty(
    checked.errors.map(({ loc, msg }) => `${manifestName}: ${loc.slice(1).join('.')}: ${msg}`),
  )
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 20 })
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    throw new FaultyRecipe(`environment: ${manifestName} is not YAML: ${fault}`, { cause: error })
  }
}

const faulty = (faults: readonly string[]) => new FaultyRecipe(`environment: ${faults.join('; ')}`)

const moduleOf = (entry: string): string => entry.split(':')[0] ?? ''

async function hasModule(directory: string, entry: string): Promise<boolean> {
  const file = path.join(directory, ...moduleOf(entry).split('.'))
  return (await isFile(`${file}.py`)) || isFile(path.join(file, '__init__.py'))
}

/**
 * A package with versions and markers. Options, files and addresses are refused, because the packages are installed outside the
 * isolation of runs: from the package index of the server alone, and as wheels, so that nothing of theirs is executed.
 */
const requirement =
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}(?:\[[A-Za-z0-9._, -]{1,100}\])?\s*(?:[<>=!~]=?=?\s*[A-Za-z0-9.*+!_-]{1,60}\s*,?\s*){0,8}(?:;[ A-Za-z0-9_.<>=!~'"()]{1,200})?$/

async function requirementsIn(directory: string): Promise<string[]> {
  const file = path.join(directory, 'requirements.txt')
  if (!(await isFile(file))) return []
  const { size } = await stat(file)
  if (size > maxManifestBytes) throw faulty([`requirements.txt has ${size} bytes`])
  const lines = (await readFile(file, 'utf8')).split(/\r?\n/).map(line => line.trim())
  const wanted = lines.filter(line => line !== '' && !line.startsWith('#'))
  if (wanted.length > maxRequirements)
    throw faulty([`requirements.txt names ${wanted.length} packages; at most ${maxRequirements}`])
  const refused = wanted.filter(line => line.length > 300 || !requirement.test(line))
  if (refused.length > 0)
    throw faulty(
      refused
        .slice(0, 20)
        .map(
          line =>
            `requirements.txt: ${JSON.stringify(line.slice(0, 80))} is not a package with versions; options, files and addresses are not allowed`,
        ),
    )
  return wanted
}
