import { segment } from '../api/client.ts'
import { uploadArchive } from '../api/upload.ts'
import { projectFiles, refuseSensitive } from '../jobs/package/files.ts'
import { pack } from '../jobs/package/pack.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { pathIn } from '../program/process.ts'
import { type CommonOptions, type Flags, openSignedIn, type World } from '../program/session.ts'
import type { CatalogueRow } from '../recipes/catalogue.ts'
import { size } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'

type DeprecateOptions = CommonOptions & Flags<'undo'>

export const describeRecipeAdd = describe({
  text: 'add the recipe in a folder to the catalogue; a version never changes afterwards',
  operands: { '<folder>': '' },
})

export async function recipeAdd(
  world: World,
  folder: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson, process } = await openSignedIn(world, options)
  const files = await projectFiles(pathIn(process, folder), folder)
  refuseSensitive(files)
  if (!files.files.some(({ path }) => path === 'recipe.yaml'))
    throw usageFailure(`${folder} has no recipe.yaml (docs/use/recipes.md)`)
  const packed = await pack(files)
  try {
    const what = `${files.files.length} files, packed ${size(packed.bytes)}`
    const upload_id = await uploadArchive(api, packed, {
      purpose: 'recipe',
      onProgress: (sent, total) =>
        terminal.status(`${what}: ${Math.floor((sent / total) * 100)} % sent`),
    })
    terminal.status(null)
    const added = await api.post<CatalogueRow & { created: boolean }>(
      '/api/admin/recipes',
      { upload_id },
      { creates: true },
    )
    const { name, version, digest, created } = added
    if (isJson) terminal.data(toJson(added))
    else terminal.data(`${name} ${version} ${created ? 'was added' : 'already exists'} (${digest})`)
    return exitCode.ok
  } finally {
    terminal.status(null)
    await packed.remove()
  }
}

export const describeRecipeDeprecate = describe({
  text: 'warn everybody who submits a job of this version; it can still be used',
  operands: { '<name@version>': '' },
  options: {
    '--undo': 'no longer',
  },
})

export async function recipeDeprecate(
  world: World,
  recipe: string,
  options: DeprecateOptions,
): Promise<ExitCode> {
  const [name, version] = recipe.split('@')
  if (!name || !version)
    throw usageFailure(
      `${recipe}: give the version too, e.g. digits@1.0.0`,
      'hint: forge recipe list',
    )
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const deprecated = options.undo !== true
  const path = `/api/admin/recipes/${segment(name)}/${segment(version)}/deprecate`
  const changed = await api.post<CatalogueRow>(path, { deprecated })
  if (isJson) terminal.data(toJson(changed))
  else terminal.data(`${name} ${version} is ${deprecated ? '' : 'no longer '}deprecated`)
  return exitCode.ok
}
