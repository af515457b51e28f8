import { type Api, segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import type { SpecTree } from '../jobs/spec/job-spec.ts'
import type { Recipe } from '../jobs/spec/parameters.ts'
import { closest } from '../program/closest.ts'
import { exitCode, Failure } from '../program/failure.ts'

/** A recipe as the catalogue has it. */
export type CatalogueRow = Recipe & {
  title: string
  kind: string
  digest: string
  deprecated: boolean
  framework: { name: string; version: string; runtime_id: string }
  entrypoint: string
  image: string | null
  resources: { min_gpus: number; min_nodes: number; profiles: string[] }
  outputs: { kind: string; format: string }[]
}

/** All versions, by name, the newest first. */
export const everyRecipe = (api: Api): Promise<CatalogueRow[]> => everyPage(api, '/api/recipes')

/** The requested version of a recipe, `name@version`, or its newest. */
export async function recipeNamed(api: Api, recipe: string): Promise<CatalogueRow> {
  const [name = '', version] = recipe.split('@')
  const path = `/api/recipes/${segment(name)}`
  const newest = await api.find<CatalogueRow>(path)
  if (!newest) throw await unknownRecipe(api, name)
  if (version === undefined) return newest
  return api.get<CatalogueRow>(`${path}/${segment(version)}`)
}

/** The lock of the requested version of a recipe, or of its newest. */
export const lockOf = async (api: Api, recipe: string): Promise<SpecTree> =>
  toLock(await recipeNamed(api, recipe))

export const toLock = ({ name, version, digest, framework }: CatalogueRow): SpecTree => ({
  name,
  version,
  digest,
  framework,
})

async function unknownRecipe(api: Api, name: string): Promise<Failure> {
  const known = [...new Set((await everyRecipe(api)).map(row => row.name))]
  const meant = closest(name, known)
  const hint = meant === null ? `known are ${known.join(', ') || 'none'}` : `did you mean ${meant}?`
  return new Failure(exitCode.refused, `No such recipe: ${name}; ${hint}`, { fields: { known } })
}
