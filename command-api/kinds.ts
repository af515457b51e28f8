import { artifactKind } from './artifacts/kind.ts'
import { deploymentKind } from './deployments/kind.ts'
import { jobKind } from './jobs/kind.ts'
import type { Kind } from './kind.ts'
import { modelKind } from './models/kind.ts'
import { projectKind } from './projects/kind.ts'
import { rubricKind } from './rubrics/kind.ts'
import { runKind } from './runs/kind.ts'
import { uploadKind } from './uploads/kind.ts'

/** Every kind of things; the list is written by hand. */
export const kinds: readonly Kind[] = [
  projectKind,
  runKind,
  jobKind,
  artifactKind,
  modelKind,
  deploymentKind,
  rubricKind,
  uploadKind,
]
