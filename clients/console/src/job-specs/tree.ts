/** A JobSpec before the server has seen it. */
export type Tree = { readonly [key: string]: unknown }

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A JobSpec without empty content: nulls, empty texts, lists and sections. Parameters stay unchanged. */
export function said(tree: Tree): Tree {
  return Object.fromEntries(
    Object.entries(tree).flatMap(([key, value]) => {
      const kept = isTree(value) && key !== 'params' ? said(value) : value
      return isNothing(kept) && key !== 'params' ? [] : [[key, kept]]
    }),
  )
}

const isNothing = (value: unknown): boolean =>
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isTree(value) && Object.keys(value).length === 0)
