import type { LiveCatalogue } from '../../recipes/live-catalogue.ts'
import type { UploadedFiles } from '../../recipes/uploaded-files.ts'

export type RecipePorts = {
  catalogue: LiveCatalogue
  recipeFiles: UploadedFiles
}
