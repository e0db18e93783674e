/** Makes a value that no item of a table could hold. */
export default async ({ kilobytes }: { kilobytes: number }) => ({
  bulk: "0123456789abcdef".repeat(kilobytes * 64),
});
