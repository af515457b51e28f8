export const pathOfModel = (model: string): string => `/api/models/${encodeURIComponent(model)}`
