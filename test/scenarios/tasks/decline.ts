/** Fails with a business error. */
export default async () => {
  throw Object.assign(new Error("The bank says no."), { name: "BusinessError", code: "DECLINED" });
};
