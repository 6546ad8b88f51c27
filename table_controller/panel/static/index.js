// The front page: sign on, then open the page of the role.

import { start } from "./common.js";

const HOME = { dealer: "/dealer", floorperson: "/floor", technician: "/technician", auditor: "/floor" };

start("pitbox", () => {}, (who) => { location.href = HOME[who.role]; });
