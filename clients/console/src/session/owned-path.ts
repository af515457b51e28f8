export type Named = { owner: string; name: string }

/** The address in the API of something that has an owner and a name. */
export const ownedPath = (list: string, { owner, name }: Named): string =>
  `/api/${list}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
