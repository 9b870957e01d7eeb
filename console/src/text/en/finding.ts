export const finding = {}
