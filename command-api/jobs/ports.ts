import type { Recipes } from './admission/load-facts.ts'

export type JobPorts = {
  catalogue: Recipes
}
