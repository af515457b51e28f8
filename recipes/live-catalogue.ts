import type { Pool } from 'pg'
import type { Recipe } from '../schemas/recipes.ts'
import {
  type CatalogueEntry,
  findRecipe,
  sortedEntries,
  toEntry,
  withDefaults,
} from './catalogue.ts'
import type { UploadedFiles } from './uploaded-files.ts'

/** A row of `write.recipe`, without the archive. `recipe` is null for a built-in one: only its deprecation is stored. */
type Row = {
  name: string
  version: string
  recipe: Recipe | null
  deprecated: boolean
  change: number
}
type Known = Row & { entry: CatalogueEntry | null }

export type LiveCatalogueOptions = {
  builtIn: readonly CatalogueEntry[]
  pool: Pool
  files: UploadedFiles
  nowMs: () => number
  /** Called with an uploaded recipe that this version of Forge cannot read, or that hides a built-in one. */
  noticed: (what: string, recipe: { name: string; version: string }, error?: unknown) => void
}

/** Maximum age of the catalogue that admission sees, in milliseconds. */
const recentMs = 1000

/** The built-in recipes and the recipes that admins uploaded to any process. */
export class LiveCatalogue {
  readonly builtIn: readonly CatalogueEntry[]
  readonly #options: LiveCatalogueOptions
  readonly #known = new Map<string, Known>()
  #change = 0
  #entries: readonly CatalogueEntry[]
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(options: LiveCatalogueOptions) {
    this.#options = options
    this.builtIn = options.builtIn
    this.#entries = options.builtIn
  }

  /** All recipes as of now, by name, the newest version first. */
  async all(): Promise<readonly CatalogueEntry[]> {
    const asked = this.#options.nowMs()
    const { rows } = await this.#options.pool.query<Row>({
      name: 'changed_recipes',
      text: `select name, version, recipe, deprecated, change::float8 as change
               from write.recipe where change > $1 order by change`,
      values: [this.#change],
    })
    this.#readAtMs = Math.max(asked, this.#readAtMs)
    if (rows.length > 0) this.#apply(rows)
    return this.#entries
  }

  /** Recipes at most a second old, or current ones if this recipe is missing there. Versions never change, so no other recipe is stale. */
  async including({ name, version }: { name: string; version: string }) {
    const isRecent = this.#options.nowMs() - this.#readAtMs < recentMs
    return isRecent && findRecipe(this.#entries, name, version) ? this.#entries : this.all()
  }

  /** A recipe with its files on this machine. */
  async provide(name: string, version: string): Promise<CatalogueEntry | null> {
    const entry = findRecipe(await this.including({ name, version }), name, version)
    if (entry && this.#known.get(keyOfRecipe({ name, version }))?.entry)
      await this.#options.files.provide(entry.recipe.digest, () => this.#archiveOf(name, version))
    return entry
  }

  async #archiveOf(name: string, version: string): Promise<Buffer> {
    const { rows } = await this.#options.pool.query<{ archive: Buffer }>(
      'select archive from write.recipe where name = $1 and version = $2',
      [name, version],
    )
    if (!rows[0]) throw new Error(`the archive of recipe ${name} ${version} is gone`)
    return rows[0].archive
  }

  #apply(rows: readonly Row[]): void {
    for (const row of rows) {
      // Concurrent reads may come back in any order.
      if ((this.#known.get(keyOfRecipe(row))?.change ?? 0) >= row.change) continue
      this.#known.set(keyOfRecipe(row), { ...row, entry: this.#entryOf(row) })
      this.#change = Math.max(this.#change, row.change)
    }
    this.#entries = this.#merged()
  }

  /** One recipe that cannot be read must not hide the others. */
  #entryOf({ name, version, recipe, deprecated }: Row): CatalogueEntry | null {
    if (recipe === null) return null
    const { files, noticed, builtIn } = this.#options
    if (findRecipe(builtIn, name, version))
      noticed('an uploaded recipe takes the place of a built-in one', { name, version })
    try {
      const called = `${name} ${version}`
      const stored = withDefaults({ ...recipe, deprecated }, called)
      return toEntry(stored, files.directoryOf(stored.digest), called)
    } catch (error) {
      noticed('an uploaded recipe cannot be read', { name, version }, error)
      return null
    }
  }

  #merged(): CatalogueEntry[] {
    const uploaded = [...this.#known.values()].flatMap(({ entry }) => entry ?? [])
    const builtIn = this.builtIn
      .filter(({ recipe }) => !this.#known.get(keyOfRecipe(recipe))?.entry)
      .map(entry => withDeprecation(entry, this.#known.get(keyOfRecipe(entry.recipe))))
    return sortedEntries([...builtIn, ...uploaded])
  }
}

const keyOfRecipe = ({ name, version }: { name: string; version: string }) => `${name} ${version}`

const withDeprecation = (entry: CatalogueEntry, row: Known | undefined): CatalogueEntry =>
  row ? { ...entry, recipe: { ...entry.recipe, deprecated: row.deprecated } } : entry
