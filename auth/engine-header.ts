import { type Seal, seal, unseal } from './sealed.ts'

/** The secret header that gateways send to an engine that Forge does not run, sealed for its revision. */
export type EngineHeaders = {
  seal(value: string, revision_id: string): Buffer
  /** Null if it was sealed for another revision, or by an installation with other keys. */
  open(sealed: Buffer, revision_id: string): string | null
}

/** `root` is the same in every process of an installation. */
export function engineHeaders(root: Buffer): EngineHeaders {
  const of = (owner: string): Seal => ({ root, purpose: 'forge engine header', owner })
  return {
    seal: (value, revision_id) => seal(value, of(revision_id)),
    open: (sealed, revision_id) => unseal(sealed, of(revision_id)),
  }
}
