/** An unused id of the same shape. */
export const withoutOwner = (id: unknown): string => String(id).slice(0, -6) + '0'.repeat(6)
